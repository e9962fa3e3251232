package dev.idem.jdbc.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.History;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.jdbc.internal.marker.Horizons;
import dev.idem.jdbc.internal.retention.Windows;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.Retention;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Markers that nobody has removed are missed. */
class LostMarkersTest {
    private static final Consumer CONSUMER = Consumer.of("payments");

    private static Outcome<?> pay(Inbox inbox, Message message) throws Exception {
        return inbox.run(
                CONSUMER, message, tx -> Db.pay(tx.connection(), message.id().orElseThrow()));
    }

    private static Message made(String id, Instant at) {
        return Db.message(id).toBuilder().eventTime(at).build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-05 a store whose markers were emptied is refused, until they are back or the loss is accepted")
    void emptied(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Instant before = Instant.now();
            try (Inbox inbox = db.inbox()) {
                pay(inbox, made("m1", before));
                pay(inbox, made("m2", before));
            }
            db.inbox().register(CONSUMER); // looks, as every start does
            db.execute("CREATE TABLE aside AS SELECT * FROM idem_marker", "DELETE FROM idem_marker");

            assertThatThrownBy(db::store)
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("ERROR markers: ")
                    .hasMessageContaining("(payments)")
                    .hasMessageContaining("accept-loss");
            try (Inbox unchecked = Inbox.create(
                    JdbcStore.builder(db.plain()).schemaMode(SchemaMode.NOTHING).build())) {
                assertThatThrownBy(() -> pay(unchecked, made("m1", before)))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("Consumer payments: Markers are gone");
            }
            JdbcRecovery recovery = JdbcRecovery.of(JdbcSchema.of(db.plain()));
            assertThat(recovery.incomplete()).containsExactly("payments");

            db.execute("INSERT INTO idem_marker SELECT * FROM aside");
            try (Inbox inbox = db.inbox()) {
                assertThat(pay(inbox, made("m1", before))).isInstanceOf(Outcome.Duplicate.class);
            }

            db.execute("DELETE FROM idem_marker");
            assertThat(recovery.acceptLoss("anna", "only tests")).containsExactly("payments");
            try (Inbox inbox = db.inbox()) {
                assertThat(pay(inbox, made("m1", before))).isInstanceOf(Outcome.Undecidable.class);
                assertThat(pay(inbox, made("m3", Instant.now().plusSeconds(3600))))
                        .isInstanceOf(Outcome.Processed.class);
            }
            assertThat(db.payments("m1")).isEqualTo(1);
            assertThat(recovery.incomplete()).isEmpty();
            assertThat(db.number("SELECT count(*) FROM idem_audit WHERE action = 'ACCEPT_LOSS' AND actor = 'anna'"))
                    .isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-05 RP-06 markers that a sweep removed are missed by nobody, whether all of them or some")
    void swept(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", History.WINDOW.plusDays(1));
            history.inbox.register(CONSUMER);
            declareAgain(history);
            assertThat(samples(history)).isEqualTo(1);
            assertThat(history.sweep().get(0).markers()).isEqualTo(1);
            assertThat(samples(history)).isZero();
            declareAgain(history);
            assertThat(JdbcRecovery.of(JdbcSchema.of(history.db.plain())).incomplete())
                    .isEmpty();

            history.paid("young", Duration.ofMinutes(1));
            declareAgain(history);
            history.paid("older", History.WINDOW.plusDays(1));
            history.sweep();
            assertThat(JdbcRecovery.of(JdbcSchema.of(history.db.plain())).incomplete())
                    .isEmpty();
            declareAgain(history);
            assertThat(samples(history)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-05 a consumer whose markers are gone does not keep the windows of others from being declared")
    void othersAreDeclared(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Tables tables = db.tables();
            Windows windows = new Windows(db.plain(), tables, new Horizons(tables));
            for (String name : List.of("a", "payments", "z")) {
                inbox.register(Consumer.of(name));
                int number = (int) db.number("SELECT number FROM idem_consumer WHERE name = '" + name + "'");
                windows.declare(name, number, new Retention(Duration.ofDays(7), Duration.ofDays(1)));
            }
            pay(inbox, made("m1", Instant.now()));
            windows.declareAgain();
            db.execute("DELETE FROM idem_marker", "UPDATE idem_retention SET seen_at = 0");
            assertThatThrownBy(windows::declareAgain).hasMessageContaining("payments");
            assertThat(db.number("SELECT count(*) FROM idem_retention WHERE seen_at > 0"))
                    .isEqualTo(2);
        }
    }

    /** As another instance does at its start, and each one every ten minutes. */
    private static void declareAgain(History history) {
        try (Inbox another = history.db.inbox()) {
            another.register(History.payments(Policy.defaults().withWindow(History.WINDOW)));
        }
    }

    private static long samples(History history) {
        return history.db.number("SELECT count(*) FROM idem_retention WHERE sample_key IS NOT NULL");
    }

    @Test
    @DisplayName(
            "RP-05 PG-29 a partition that is dropped takes the note of its marker with it; one that is emptied does not")
    void partitions() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            JdbcSchema.of(db.plain()).applyPartitioned(3);
            Consumer consumer = Consumer.named("payments")
                    .key(dev.idem.KeySelector.messageId().timeOrdered())
                    .policy(Policy.defaults().withWindow(Duration.ofHours(1)))
                    .build();
            Instant old = Instant.now().minus(Duration.ofDays(3));
            try (Inbox inbox = db.inbox()) {
                inbox.run(consumer, Db.message(uuid7(old)), tx -> Db.pay(tx.connection(), "old"));
            }
            try (Inbox inbox = db.inbox()) {
                inbox.register(consumer);
            }
            assertThat(db.number("SELECT count(sample_key) FROM idem_retention"))
                    .isEqualTo(1);
            JdbcRetention.Report report =
                    JdbcRetention.of(JdbcSchema.of(db.plain())).run(java.util.List.of(), progress -> {});
            assertThat(report.partitions().orElseThrow().dropped()).isNotEmpty();
            assertThat(db.number("SELECT count(sample_key) FROM idem_retention"))
                    .isZero();
            try (Inbox inbox = db.inbox()) {
                inbox.run(consumer, Db.message(uuid7(Instant.now())), tx -> Db.pay(tx.connection(), "new"));
            }
            try (Inbox inbox = db.inbox()) {
                inbox.register(consumer);
            }
            db.execute("TRUNCATE idem_marker");
            assertThatThrownBy(db::store).isInstanceOf(StoreException.class).hasMessageContaining("ERROR markers: ");
        }
    }

    private static String uuid7(Instant at) {
        return new UUID((at.toEpochMilli() << 16) | 0x7abcL, 0x8000_0000_0000_0001L).toString();
    }
}
