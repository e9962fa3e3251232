package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Observation;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Observe mode on real databases: everything runs, each in its own transaction, and the verdicts are counted. */
class ObserveTest {
    private static final Consumer OBSERVED =
            History.payments(Policy.defaults().withObserveOnly().withBusyWait(Duration.ofMillis(200)));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("what would be stopped is counted and runs all the same, with its effect")
    void everythingRuns(Database database) throws Exception {
        try (History history = new History(database)) {
            assertThat(history.pay(OBSERVED, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
            history.age("1 = 1", Duration.ofHours(2));
            Message changed = Message.of("1", "other".getBytes(StandardCharsets.UTF_8));
            Message keyless = Db.message("1").toBuilder().id(null).build();

            assertThat(history.pay(OBSERVED, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
            assertThat(history.pay(OBSERVED, changed)).isInstanceOf(Outcome.Processed.class);
            assertThat(history.inbox.run(OBSERVED, keyless, tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);

            assertThat(history.db.payments("1")).isEqualTo(4);
            Observation seen = history.inbox.observations().get("payments");
            assertThat(seen.deliveries()).isEqualTo(4);
            assertThat(seen.duplicates()).isEqualTo(1);
            assertThat(seen.conflicts()).isEqualTo(1);
            assertThat(seen.unusableKeys()).isEqualTo(1);
            assertThat(seen.lags()).containsEntry(Duration.ofHours(6), 2L);
            assertThat(seen.longestLag().orElseThrow()).isBetween(Duration.ofMinutes(119), Duration.ofMinutes(125));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a list of messages is observed one by one")
    void aListIsObserved(Database database) {
        Consumer observed = Consumer.named("payments")
                .policy(Policy.defaults().withObserveOnly())
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), "1");
                    return null;
                })
                .build();
        try (History history = new History(database)) {
            assertThat(history.inbox.acceptAll(observed, List.of(Db.message("1"), Db.message("1"))))
                    .allMatch(Outcome.Processed.class::isInstance);
            assertThat(history.db.payments("1")).isEqualTo(2);
            assertThat(history.inbox.observations().get("payments").duplicates())
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a twin that runs now would make it busy; both run")
    void aTwinThatRunsNow(Database database) throws Exception {
        try (History history = new History(database)) {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<Outcome<Void>> first = Together.start(() -> history.inbox.run(OBSERVED, Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                running.countDown();
                Together.await(end);
            }));
            Together.await(running);
            assertThat(history.pay(OBSERVED, Db.message("1"))).isInstanceOf(Outcome.Processed.class);
            end.countDown();
            assertThat(Together.get(first)).isInstanceOf(Outcome.Processed.class);
            assertThat(history.db.payments("1")).isEqualTo(2);
            assertThat(history.inbox.observations().get("payments").busy()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "a handler that fails rolls its own run back, as ever, and a joined duplicate runs in the outer transaction")
    void failuresAndJoins(Database database) throws Exception {
        try (History history = new History(database);
                Connection outer = history.db.plain().getConnection()) {
            history.pay(OBSERVED, Db.message("1"));
            assertThatThrownBy(() -> history.inbox.run(OBSERVED, Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        throw new IllegalStateException("rolls back");
                    }))
                    .hasMessage("rolls back");
            assertThat(history.db.payments("1")).isEqualTo(1);
            outer.setAutoCommit(false);
            assertThat(history.inbox
                            .within(outer)
                            .process(OBSERVED, Db.message("1"), tx -> {
                                Db.pay(tx.connection(), "1");
                                return true;
                            })
                            .outcome())
                    .isInstanceOf(Outcome.Processed.class);
            outer.commit();
            assertThat(history.db.payments("1")).isEqualTo(2);
            assertThat(history.inbox.observations().get("payments").duplicates())
                    .isEqualTo(2);
        }
    }
}
