package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.ClaimAnomalyException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nothing inserted and nothing to read is no duplicate: something in the database is in the way. */
class AnomalyTest {
    private final AtomicInteger runs = new AtomicInteger();
    private final Consumer consumer = Consumer.named("payments")
            .otherwise((message, tx) -> {
                runs.incrementAndGet();
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();

    @Test
    @Tag("second-pass")
    @DisplayName("PC-22 a trigger that drops the marker is an anomaly, never an acknowledgement")
    void aTriggerThatReturnsNullIsAnAnomaly() {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            db.execute(
                    "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                    "CREATE TRIGGER nothing BEFORE INSERT ON idem_marker FOR EACH ROW EXECUTE FUNCTION nothing()");
            assertAnomaly(inbox, Db.message("1"));
            db.execute("DROP TRIGGER nothing ON idem_marker");
            assertThat(inbox.accept(consumer, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @Test
    @DisplayName("PC-22 a trigger that changes the key on MariaDB is an anomaly, never an acknowledgement")
    void aTriggerThatChangesTheKeyIsAnAnomaly() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE TRIGGER other BEFORE INSERT ON idem_marker FOR EACH ROW SET NEW.consumer = 99");
            assertAnomaly(inbox, Db.message("1"));
        }
    }

    @Test
    @DisplayName("PC-22 a row policy that hides the marker is trouble of the store, never an acknowledgement")
    void aRowPolicyThatHidesTheMarkerIsNeverAcknowledged() {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox owner = db.inbox()) {
            assertThat(owner.accept(consumer, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
            String role = db.role("SELECT, INSERT, UPDATE, DELETE");
            db.execute(
                    "ALTER TABLE idem_marker ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY hides ON idem_marker USING (false) WITH CHECK (true)");
            try (Inbox inbox = Inbox.create(JdbcStore.create(Db.plain(db.urlOf(role))))) {
                runs.set(0);
                assertInfrastructure(inbox, Db.message("1"));
                assertInfrastructure(inbox, Db.message("2"));
            }
        }
    }

    @Test
    @DisplayName("PC-22 a rule that rewrites the insert is answered as trouble of the store, never acknowledged")
    void aRuleIsNeverAcknowledged() {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE RULE nothing AS ON INSERT TO idem_marker DO INSTEAD NOTHING");
            assertInfrastructure(inbox, Db.message("1"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("PG-07 PC-22 another unique index that stops the marker is an anomaly, never a duplicate")
    void anotherUniqueIndexIsAnAnomaly(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            db.execute("CREATE UNIQUE INDEX extra ON idem_marker (fingerprint)");
            assertThat(inbox.accept(consumer, Message.of("1", new byte[] {1}))).isInstanceOf(Outcome.Processed.class);
            runs.set(0);
            assertAnomaly(inbox, Message.of("2", new byte[] {1}));
            assertThat(inbox.accept(consumer, Message.of("1", new byte[] {1}))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(inbox.accept(consumer, Message.of("3", new byte[] {3}))).isInstanceOf(Outcome.Processed.class);
        }
    }

    private void assertAnomaly(Inbox inbox, Message message) {
        assertInfrastructure(inbox, message);
        assertThatThrownBy(() -> inbox.run("payments", message, tx -> Db.pay(tx.connection(), "x")))
                .isInstanceOf(ClaimAnomalyException.class)
                .hasMessageContaining("payments/" + message.id().orElseThrow())
                .hasMessageContaining("unique index")
                .hasMessageContaining("idem schema validate");
    }

    private void assertInfrastructure(Inbox inbox, Message message) {
        Outcome<?> outcome = inbox.accept(consumer, message);
        assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
            assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE);
            assertThat(failed.cause()).isInstanceOf(StoreException.class);
        });
        assertThat(runs).hasValue(0);
    }
}
