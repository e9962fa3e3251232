package dev.idem.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Message;
import java.math.BigDecimal;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

@Timeout(60)
class HostilePayloadTest {
    record Event(Object extra, BigDecimal amount) {}

    private final JacksonDecoder<Event> decoder = JacksonDecoder.of(Event.class);

    @ParameterizedTest
    @DisplayName("KY-08 deep nesting ends at the cap, in known and in ignored properties")
    @ValueSource(strings = {"extra", "ignored"})
    void deepNesting(String property) {
        String bomb = "{\"" + property + "\":" + "[".repeat(200_000);
        assertThatThrownBy(() -> decode(bomb)).isInstanceOf(StreamConstraintsException.class);
        String tooDeep = "{\"" + property + "\":" + "[".repeat(100) + "]".repeat(100) + "}";
        assertThatThrownBy(() -> decode(tooDeep)).isInstanceOf(StreamConstraintsException.class);
        decode("{\"" + property + "\":" + "[".repeat(99) + "]".repeat(99) + "}");
    }

    @Test
    @DisplayName("KY-08 huge numbers are refused before anybody computes with them")
    void hugeNumbers() {
        assertThatThrownBy(() -> decode("{\"amount\":" + "9".repeat(101) + "}"))
                .isInstanceOf(StreamConstraintsException.class);
        assertThatThrownBy(() -> decode("{\"extra\":" + "9".repeat(1_000_000) + "}"))
                .isInstanceOf(StreamConstraintsException.class);
        assertThat(decode("{\"amount\":" + "9".repeat(100) + "}").amount()).isEqualTo(new BigDecimal("9".repeat(100)));
        assertThatThrownBy(() -> JacksonDecoder.of(Counter.class).decode(message("{\"count\":1e1000000000}")))
                .as("an exponent is not expanded")
                .isInstanceOf(RuntimeException.class);
    }

    record Counter(int count) {}

    @Test
    @DisplayName("KY-08 long names are refused, and what is larger than the cap is not even parsed")
    void longText() {
        assertThatThrownBy(() -> decode("{\"" + "n".repeat(50_000) + "\":1}"))
                .isInstanceOf(StreamConstraintsException.class);
        JacksonDecoder<Event> small = decoder.maxBytes(20);
        assertThat(small.decode(message("{\"extra\":\"12345678\"}")).extra()).isEqualTo("12345678");
        assertThatThrownBy(() -> small.decode(message("{\"extra\":\"123456789\"}")))
                .hasMessage("The payload has 21 bytes, at most 20 are decoded");
        assertThatThrownBy(() -> decoder.decode(Message.of("m", new byte[Json.MAX_BYTES + 1])))
                .hasMessageContaining("at most 16777216");
    }

    @ParameterizedTest
    @DisplayName("SE-05 class names in a payload are data")
    @ValueSource(
            strings = {
                "{\"extra\":{\"@class\":\"javax.swing.JEditorPane\",\"page\":\"http://x\"}}",
                "{\"extra\":{\"@type\":\"com.sun.rowset.JdbcRowSetImpl\",\"dataSourceName\":\"ldap://x\"}}"
            })
    void gadgets(String payload) {
        assertThat(decode(payload).extra()).isInstanceOf(Map.class);
    }

    @Test
    @DisplayName("SE-05 a mapper with default typing is refused at construction")
    void defaultTyping() {
        JsonMapper open = JsonMapper.builder()
                .activateDefaultTyping(
                        BasicPolymorphicTypeValidator.builder()
                                .allowIfBaseType(Object.class)
                                .build(),
                        DefaultTyping.JAVA_LANG_OBJECT)
                .build();
        assertThatThrownBy(() -> JacksonDecoder.of(open, Event.class)).hasMessageContaining("default typing");
        assertThatThrownBy(() -> JacksonResultCodec.of(open, Event.class)).hasMessageContaining("default typing");
    }

    private Event decode(String json) {
        return decoder.decode(message(json));
    }

    private static Message message(String json) {
        return Message.of("m", json.getBytes(UTF_8));
    }
}
