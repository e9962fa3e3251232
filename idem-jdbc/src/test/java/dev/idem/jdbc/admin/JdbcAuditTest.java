package dev.idem.jdbc.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.schema.Database;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JdbcAuditTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-02 who replayed what, and why, is written down and can be read")
    void writesAndReads(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2))) {
            inbox.register(Consumer.of("billing"));
            JdbcAudit audit = JdbcAudit.of(JdbcSchema.of(db.plain()));
            audit.record("billing", "REPLAY", "anna", "it's repaired", "begins at 0-1");
            audit.record("billing", "REPLAYED", "anna", "it's repaired", "2 dead letters sent again");
            assertThat(audit.newest())
                    .extracting(JdbcAudit.Entry::action, JdbcAudit.Entry::consumer, JdbcAudit.Entry::reason)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple("REPLAYED", "billing", "it's repaired"),
                            org.assertj.core.groups.Tuple.tuple("REPLAY", "billing", "it's repaired"));
            assertThatThrownBy(() -> audit.record("biling", "REPLAY", "anna", "typo", ""))
                    .isInstanceOf(IdemException.class)
                    .hasMessageContaining("biling");
            assertThat(audit.newest()).hasSize(2);
        }
    }
}
