package dev.idem.jdbc.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Identifier;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import org.junit.jupiter.api.Test;

class ChannelTest {
    @Test
    void isNamedAfterSchemaAndPrefix() {
        assertThat(channel("public", "idem_")).isEqualTo("public$idem_");
        assertThat(channel("a".repeat(30), "b".repeat(30))).hasSizeLessThan(64);
        assertThat(channel("a_b", "c_")).isNotEqualTo(channel("a", "b_c_"));
    }

    @Test
    void hidesNamesThatWouldNeedQuotesOrAreTooLong() {
        String strange = channel("My Schema; DROP", "idem_");
        assertThat(strange).matches("[a-z$0-9]{1,63}").isNotEqualTo(channel("my schema; drop", "idem_"));
        assertThat(channel("x".repeat(63), "idem_")).hasSizeLessThan(64);
        assertThatThrownBy(() -> new Channel("a; DROP")).isInstanceOf(IllegalArgumentException.class);
    }

    private static String channel(String schema, String prefix) {
        return Channel.of(new Tables(Dialect.of(Database.POSTGRESQL), schema, new Identifier(prefix), false))
                .name();
    }
}
