package dev.idem.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

class JacksonResultCodecTest {
    record Receipt(String number, Instant at) {}

    private final JacksonResultCodec<Receipt> codec = JacksonResultCodec.of(Receipt.class);
    private final Receipt receipt = new Receipt("r-1 €", Instant.parse("2026-01-02T03:04:05.123456789Z"));

    @Test
    void aResultComesBackAsItWas() {
        assertThat(codec.decode(codec.encode(receipt))).isEqualTo(receipt);
        assertThat(codec.name()).isEqualTo("json");
    }

    @Test
    void theBytesArePlainJson() {
        assertThat(new String(codec.encode(receipt), UTF_8))
                .isEqualTo("{\"number\":\"r-1 €\",\"at\":\"2026-01-02T03:04:05.123456789Z\"}");
    }

    @Test
    void anotherMapperMayBeUsed() {
        JacksonResultCodec<Receipt> own = JacksonResultCodec.of(new JsonMapper(), Receipt.class);
        assertThat(own.decode(codec.encode(receipt))).isEqualTo(receipt);
    }

    @Test
    void whatCannotBeReadIsAnException() {
        assertThatThrownBy(() -> codec.decode("no".getBytes(UTF_8))).isInstanceOf(JacksonException.class);
        assertThatThrownBy(() -> codec.decode(new byte[0])).isInstanceOf(JacksonException.class);
    }

    @Test
    void whatCannotBeWrittenIsAnException() {
        record Loop(Object[] self) {}
        Loop loop = new Loop(new Object[1]);
        loop.self()[0] = loop;
        JacksonResultCodec<Loop> looping = JacksonResultCodec.of(Loop.class);
        assertThatThrownBy(() -> looping.encode(loop)).isInstanceOf(JacksonException.class);
    }

    @Test
    @SuppressWarnings("NullAway")
    void aTypeIsRequired() {
        assertThatThrownBy(() -> JacksonResultCodec.of(null)).hasMessage("type");
    }
}
