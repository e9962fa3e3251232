package dev.idem.jdbc.internal.marker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.CapturedLog;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.Failover;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.admin.JdbcConsumers;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A failover loses the registration of a consumer whose processes go on. */
class LostRegistrationTest {
    private static final List<String> IDS = List.of("m1", "m2", "m3");

    private static Outcome<Void> pay(Inbox inbox, String consumer, String id) throws Exception {
        Message message = Message.of(id, (consumer + " " + id).getBytes(StandardCharsets.UTF_8));
        return inbox.run(consumer, message, tx -> Db.pay(tx.connection(), consumer + " " + id));
    }

    private static void payAll(Inbox inbox, String consumer) throws Exception {
        for (String id : IDS) {
            pay(inbox, consumer, id);
        }
    }

    private static void assertPaidOnce(Db db, String... consumers) {
        for (String consumer : consumers) {
            for (String id : IDS) {
                assertThat(db.payments(consumer + " " + id))
                        .as(consumer + " " + id)
                        .isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-18 what a process does after the loss is known to one that registers the consumer anew")
    void registeredAnew(Database database) throws Exception {
        try (Failover failover = new Failover(database);
                Inbox running = Inbox.create(failover.store())) {
            pay(running, "payments", "before");
            failover.happen();
            payAll(running, "payments");
            try (Inbox other = Inbox.create(failover.store())) {
                assertThat(pay(other, "mail", "before")).isInstanceOf(Outcome.Processed.class);
                for (String id : IDS) {
                    assertThat(pay(other, "payments", id)).as(id).isInstanceOf(Outcome.Duplicate.class);
                }
            }
            assertPaidOnce(failover.db(), "payments");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-18 PC-16 a consumer that registers after the loss meets no marker of the one that was lost")
    void othersKeepApart(Database database) throws Exception {
        try (Failover failover = new Failover(database);
                Inbox running = Inbox.create(failover.store())) {
            pay(running, "payments", "before");
            failover.happen();
            try (Inbox other = Inbox.create(failover.store())) {
                pay(other, "mail", "before");
                for (String id : IDS) {
                    assertThat(pay(running, "payments", id)).as(id).isInstanceOf(Outcome.Processed.class);
                    assertThat(pay(other, "mail", id)).as(id).isInstanceOf(Outcome.Processed.class);
                }
            }
            assertPaidOnce(failover.db(), "payments", "mail");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PG-18 PC-19 a consumer that took the old name of a renamed one is found again, and the renamed one too")
    void renamed(Database database) throws Exception {
        try (Failover failover = new Failover(database)) {
            try (Inbox first = Inbox.create(failover.store())) {
                pay(first, "payments", "m0");
            }
            JdbcConsumers consumers = JdbcConsumers.of(JdbcSchema.of(failover.dataSource()));
            int number = consumers.list().get(0).number();
            consumers.rename("payments", "billing");
            failover.standby("INSERT INTO idem_consumer (number, name) VALUES (" + number + ", 'billing')");
            try (Inbox running = Inbox.create(failover.store())) {
                assertThat(pay(running, "payments", "m0")).isInstanceOf(Outcome.Processed.class);
                failover.happen();
                payAll(running, "payments");
                payAll(running, "billing");
                try (Inbox other = Inbox.create(failover.store())) {
                    payAll(other, "billing");
                    payAll(other, "payments");
                }
            }
            assertPaidOnce(failover.db(), "payments", "billing");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-18 a process registers again what it knows, so that sweeps and operators see its consumer")
    void restored(Database database) throws Exception {
        try (Failover failover = new Failover(database);
                Inbox running = caring(failover)) {
            pay(running, "payments", "before");
            List<JdbcConsumers.Known> before = consumers(failover).list();
            failover.happen();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> consumers(failover).list().equals(before));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-18 PC-19 a process whose consumer's renaming was lost says so")
    void lostRenaming(Database database) throws Exception {
        try (CapturedLog log = CapturedLog.of(JdbcStore.class);
                Failover failover = new Failover(database);
                Inbox running = caring(failover)) {
            pay(running, "payments", "before");
            int number = consumers(failover).list().get(0).number();
            failover.standby("INSERT INTO idem_consumer (number, name) VALUES (" + number + ", 'payments')");
            consumers(failover).rename("payments", "billing");
            try (Inbox restarted = caring(failover)) {
                assertThat(pay(restarted, "billing", "before"))
                        .isInstanceOf(Outcome.Conflict.class); // so it is the same
                failover.happen();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> log.everything().stream()
                                .anyMatch(line ->
                                        line.startsWith("billing: its number is " + number + " in this process")));
            }
        }
    }

    private static Inbox caring(Failover failover) {
        return Inbox.create(JdbcStore.builder(failover.dataSource())
                .schemaMode(SchemaMode.VALIDATE)
                .sweepEvery(Duration.ofMillis(50))
                .build());
    }

    private static JdbcConsumers consumers(Failover failover) {
        return JdbcConsumers.of(JdbcSchema.of(failover.dataSource()));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-16 two names of the same hash get a number each, and everybody the same, also when all come at once")
    void sameHash(Database database) throws Exception {
        List<String> twins = twins();
        assertThat(NumberOfName.candidates(twins.get(0))[0]).isEqualTo(NumberOfName.candidates(twins.get(1))[0]);
        try (Db db = Db.fresh(database)) {
            JdbcSchema.of(db.plain()).apply();
            Tables tables = db.tables();
            List<Integer> numbers = Together.run(
                    8, i -> new ConsumerNumbers(db.plain(), tables.dialect(), tables).of(twins.get(i % 2)));
            assertThat(numbers.get(0)).isNotEqualTo(numbers.get(1));
            for (int i = 2; i < 8; i++) {
                assertThat(numbers.get(i)).isEqualTo(numbers.get(i % 2));
            }
        }
    }

    private static List<String> twins() {
        Map<Integer, String> names = new HashMap<>();
        for (int i = 0; ; i++) {
            String other = names.put(NumberOfName.candidates("consumer-" + i)[0], "consumer-" + i);
            if (other != null) {
                return List.of(other, "consumer-" + i);
            }
        }
    }
}
