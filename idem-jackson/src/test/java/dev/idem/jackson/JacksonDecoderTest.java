package dev.idem.jackson;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

class JacksonDecoderTest {
    record Item(String sku, int count) {}

    record Order(String id, List<Item> items, Object extra) {}

    private final JacksonDecoder<Order> decoder = JacksonDecoder.of(Order.class);

    @Test
    void decodesIntoTheNamedClass() {
        Order order = decoder.decode(message("{\"id\":\"€\",\"items\":[{\"sku\":\"a\",\"count\":2}]}"));
        assertThat(order).isEqualTo(new Order("€", List.of(new Item("a", 2)), null));
    }

    @Test
    void propertiesNobodyKnowsAreIgnored() {
        assertThat(decoder.decode(message("{\"id\":\"a\",\"added\":{\"later\":[1]}}"))
                        .id())
                .isEqualTo("a");
    }

    @Test
    void utf16IsJsonTooAndDetected() {
        assertThat(decoder.decode(Message.of("m", "{\"id\":\"€\"}".getBytes(UTF_16)))
                        .id())
                .isEqualTo("€");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "{",
                "}",
                "{\"id\":}",
                "{'id':'a'}",
                "{\"id\":\"a\"} {}",
                "{\"id\":\"a\"},",
                "[]",
                "7",
                "\"text\"",
                "<order/>",
                "id: a",
                "{\"id\":\"\n\"}",
                "{\"items\":{}}",
                "{\"items\":[{\"count\":\"x\"}]}",
                "{\"items\":[{\"count\":99999999999}]}",
                "{\"id\":NaN}",
                "// comment\n{}",
                "\u0000",
                "{\"id\":\"\\uD8\"}"
            })
    void whatIsNotSuchAPayloadIsRefused(String payload) {
        assertRefused(payload.getBytes(UTF_8));
    }

    @Test
    void bytesThatAreNoTextAreRefused() {
        assertRefused(new byte[] {'{', '"', (byte) 0xC3, (byte) 0x28, '"', ':', '1', '}'});
        assertRefused(new byte[] {(byte) 0xAC, (byte) 0xED, 0, 5, 's', 'r'}); // Java serialization
        assertRefused(new byte[] {0x1F, (byte) 0x8B, 8, 0}); // gzip: nothing is inflated
    }

    @Test
    void theApplicationsOwnMapperKeepsItsFeatures() {
        JsonMapper strict = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        JacksonDecoder<Order> own = JacksonDecoder.of(strict, Order.class);
        assertThat(own.decode(message("{\"id\":\"a\"}")).id()).isEqualTo("a");
        assertThatThrownBy(() -> own.decode(message("{\"added\":1}"))).isInstanceOf(JacksonException.class);
    }

    @Test
    @SuppressWarnings("NullAway")
    void wrongArgumentsFailAtConstruction() {
        assertThatThrownBy(() -> JacksonDecoder.of(null)).hasMessage("type");
        assertThatThrownBy(() -> JacksonDecoder.of(null, Order.class)).hasMessage("mapper");
        assertThatThrownBy(() -> decoder.maxBytes(0)).hasMessageContaining("maxBytes is 0");
        assertThatThrownBy(() -> decoder.maxBytes(Json.MAX_BYTES + 1)).isInstanceOf(IllegalArgumentException.class);
    }

    private void assertRefused(byte[] payload) {
        assertThatThrownBy(() -> decoder.decode(Message.of("m", payload)))
                .isInstanceOfAny(JacksonException.class, IllegalArgumentException.class);
    }

    private static Message message(String json) {
        return Message.of("m", json.getBytes(UTF_8));
    }
}
