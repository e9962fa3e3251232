package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names, tables, threads and secrets: what belongs to one inbox stays in it. */
class ScopeTest {
    private static final String CANARY = "canary-7f3a";

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-19 PC-16 a renamed consumer keeps its history, and another consumer has its own")
    void aRenamedConsumerKeepsItsHistory(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.inbox().run("payments", Db.message("1"), tx -> {});
            JdbcConsumers consumers = JdbcConsumers.of(JdbcSchema.of(db.plain()));
            assertThat(consumers.rename("payments", "billing")).isTrue();
            assertThat(consumers.rename("payments", "billing")).isFalse();
            assertThat(db.inbox().run("billing", Db.message("1"), tx -> {})).isInstanceOf(Outcome.Duplicate.class);
            assertThat(db.inbox().run("mail", Db.message("1"), tx -> {})).isInstanceOf(Outcome.Processed.class);
            assertThatThrownBy(() -> consumers.rename("billing", "mail")).isInstanceOf(StoreException.class);
            assertThat(consumers.list()).extracting(JdbcConsumers.Known::name).containsExactly("billing", "mail");
        }
    }

    @Test
    @DisplayName("HX-15 after a message, also after one that failed, its thread has no transaction any more")
    void aThreadForgetsItsTransaction() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            JdbcStore store = db.store();
            try (Inbox inbox = Inbox.create(store)) {
                for (boolean fails : new boolean[] {false, true}) {
                    try {
                        inbox.run("payments", Db.message("m" + fails), tx -> {
                            Db.pay(store.dataSource().getConnection(), "inside");
                            if (fails) {
                                throw new IllegalStateException("no");
                            }
                        });
                    } catch (IllegalStateException expected) {
                        assertThat(fails).isTrue();
                    }
                    try (Connection outside = store.dataSource().getConnection()) {
                        assertThat(outside.getAutoCommit()).isTrue();
                        Db.pay(outside, "outside");
                    }
                }
                assertThat(db.payments("inside")).isEqualTo(1);
                assertThat(db.payments("outside")).isEqualTo(2);
            }
        }
    }

    @Test
    @DisplayName("HX-16 two stores in one process keep to their own databases, also on one thread")
    void twoStoresDoNotMix() throws Exception {
        try (Db first = Db.fresh(Database.H2);
                Db second = Db.fresh(Database.POSTGRESQL);
                Inbox one = first.inbox();
                Inbox two = second.inbox()) {
            JdbcStore secondStore = (JdbcStore) two.store();
            for (Inbox inbox : List.of(one, two)) {
                assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                        .isInstanceOf(Outcome.Processed.class);
            }
            one.run("payments", Db.message("2"), tx -> {
                Db.pay(tx.connection(), "2");
                try (Connection other = secondStore.dataSource().getConnection()) {
                    assertThat(other.getMetaData().getDatabaseProductName()).isEqualTo("PostgreSQL");
                }
            });
            assertThat(first.payments()).isEqualTo(2);
            assertThat(second.payments()).isEqualTo(1);
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("HX-04 thousands of threads share ten connections, and every message is processed once")
    void manyThreadsShareFewConnections() throws Exception {
        boolean virtual = Runtime.version().feature() >= 21;
        int tasks = virtual ? 10_000 : 2_000;
        ExecutorService threads = virtual
                ? (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null)
                : Executors.newFixedThreadPool(200);
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox =
                        Inbox.builder(db.store(db.pool(10))).concurrency(10).build()) {
            List<Future<Outcome<Void>>> answers = new ArrayList<>();
            for (int i = 0; i < tasks; i++) {
                String id = "m" + i / 2; // each twice
                answers.add(threads.submit(
                        () -> inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id))));
            }
            int processed = 0;
            for (Future<Outcome<Void>> answer : answers) {
                Outcome<Void> outcome = answer.get(120, java.util.concurrent.TimeUnit.SECONDS);
                assertThat(outcome)
                        .isInstanceOfAny(Outcome.Processed.class, Outcome.Duplicate.class, Outcome.Busy.class);
                processed += outcome instanceof Outcome.Processed ? 1 : 0;
            }
            assertThat(processed).isEqualTo(tasks / 2);
            assertThat(db.payments()).isEqualTo(tasks / 2);
            assertThat(db.number("SELECT count(DISTINCT order_id) FROM payment"))
                    .isEqualTo(tasks / 2);
        } finally {
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                "idem;",
                "idem'",
                "idem\"",
                "idem`",
                "idem--",
                "idem/*",
                "idem\n",
                "idem\u0000",
                "Idem_",
                "1dem_",
                "idem-",
                "idem.",
                "idem$",
                "${marker}",
                "id\u00e9m",
                "\u0131dem_",
                "idem_\uff41",
                "idem)(",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "x; DROP TABLE payment; --",
                "idem_\\",
                "idem_%s",
                ":name"
            })
    @DisplayName("SE-01 a prefix or schema that is no plain name is refused before any SQL is made of it")
    void aNameThatCarriesSqlIsRefused(String name) {
        try (Db db = Db.fresh(Database.H2)) {
            assertThatThrownBy(() -> JdbcStore.builder(db.plain()).prefix(name).build())
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcStore.builder(db.plain()).schema(name).build())
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcSchema.script(Database.H2, name, "idem_"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcSchema.script(Database.H2, null, name))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-01 tables of another prefix in another schema serve as well, side by side with the default ones")
    void otherNamesServe(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.execute("CREATE SCHEMA "
                    + (database == Database.MARIADB ? db.text("SELECT CONCAT(DATABASE(), '_x')") : "side"));
            String schema = database == Database.MARIADB ? db.text("SELECT CONCAT(DATABASE(), '_x')") : "side";
            try (Inbox inbox = Inbox.create(JdbcStore.builder(db.plain())
                            .schema(schema)
                            .prefix("shop_")
                            .schemaMode(SchemaMode.ALWAYS)
                            .build());
                    Inbox standard = db.inbox()) {
                StorePath.check(db, inbox);
                assertThat(db.number("SELECT count(*) FROM " + schema + ".shop_marker"))
                        .isEqualTo(8);
                assertThat(standard.run("payments", Db.message("walk-1"), tx -> {}))
                        .isInstanceOf(Outcome.Processed.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-04 payload and headers are in no log line and no exception of ours")
    void payloadAndHeadersAreNeverTold(Database database) throws Exception {
        Message message = Message.builder()
                .id("1")
                .type("paid")
                .payload(CANARY.getBytes(StandardCharsets.UTF_8))
                .header("secret", CANARY)
                .build();
        List<Throwable> thrown = new ArrayList<>();
        try (Db db = Db.fresh(database);
                CapturedLog log = CapturedLog.of("dev.idem");
                Inbox inbox = db.inbox()) {
            Consumer quick = Consumer.named("payments")
                    .policy(Policy.defaults()
                            .withHandlerTimeout(Duration.ofMillis(200))
                            .withMaxRuns(2))
                    .on(
                            "paid",
                            m -> {
                                throw new IllegalArgumentException("no");
                            },
                            (Object event, dev.idem.Transaction tx) -> null)
                    .build();
            String undecodable = inbox.accept(quick, message).toString();
            thrown.add(thrownBy(() -> inbox.process(quick, message, tx -> {
                Thread.sleep(10_000);
                return null;
            })));
            assertThat(thrown.get(0)).isInstanceOf(HandlerTimeoutException.class);
            thrown.add(thrownBy(() -> inbox.process(quick, message, tx -> {
                throw new SQLException("scripted", "40001");
            })));
            thrown.add(thrownBy(
                    () -> inbox.process(quick, message, tx -> inbox.process(quick, message, again -> null))));
            inbox.run("payments", message, tx -> Db.pay(tx.connection(), "1"));
            String duplicate = inbox.run("payments", message, tx -> {}).toString();
            String conflict = inbox.run(
                            "payments", message.toBuilder().payload(new byte[0]).build(), tx -> {})
                    .toString();
            db.execute("DROP TABLE idem_marker");
            thrown.add(thrownBy(() -> inbox.run("payments", message, tx -> {})));
            assertThat(thrown).doesNotContainNull();
            assertThat(log.everything()).isNotEmpty().noneMatch(line -> line.contains(CANARY));
            assertThat(List.of(undecodable, duplicate, conflict, message.toString()))
                    .noneMatch(t -> t.contains(CANARY));
            for (Throwable failure : thrown) {
                for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                    assertThat(String.valueOf(cause)).doesNotContain(CANARY);
                }
            }
        }
    }

    private static Throwable thrownBy(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        return org.assertj.core.api.Assertions.catchThrowable(call);
    }
}
