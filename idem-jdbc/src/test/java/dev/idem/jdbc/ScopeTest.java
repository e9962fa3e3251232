package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.admin.JdbcConsumers;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
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

/** Consumers, threads and stores: what belongs to one stays with it. */
class ScopeTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-19 PC-16 a renamed consumer keeps its history, and another consumer has its own")
    void aRenamedConsumerKeepsItsHistory(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.inbox().run("payments", Db.message("1"), Transaction::nothingToDo);
            JdbcConsumers consumers = JdbcConsumers.of(JdbcSchema.of(db.plain()));
            assertThat(consumers.rename("payments", "billing")).isTrue();
            assertThat(consumers.rename("payments", "billing")).isFalse();
            assertThat(db.inbox().run("billing", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOf(Outcome.Duplicate.class);
            assertThat(db.inbox().run("mail", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOf(Outcome.Processed.class);
            assertThatThrownBy(() -> consumers.rename("billing", "mail")).isInstanceOf(StoreException.class);
            assertThat(consumers.list()).extracting(JdbcConsumers.Known::name).containsExactly("billing", "mail");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-18 a message with two effects: when the second consumer fails, the first is not repeated")
    void oneConsumersFailureDoesNotRepeatAnothers(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.inbox().run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "payment"));
            assertThatThrownBy(() -> db.inbox().run("mail", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "mail");
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");
            db.inbox().run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "payment"));
            db.inbox().run("mail", Db.message("1"), tx -> Db.pay(tx.connection(), "mail"));
            assertThat(db.payments("payment")).isEqualTo(1);
            assertThat(db.payments("mail")).isEqualTo(1);
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
}
