package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.GIVEN;
import static dev.idem.jdbc.ReplayBench.messages;
import static dev.idem.jdbc.ReplayBench.paying;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Policy.Replay;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a session when its source, its store or its service goes away. */
class ReplayOutageTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a source that cannot be read is tried again later and later, and other sessions come first")
    void source(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Flaky flaky = new Flaky(bench.given());
            Consumer consumer = paying(Replay.ALLOWED).build();
            bench.given.addAll(messages(60));
            bench.replayer(consumer, flaky);
            bench.anna().start("one", "payments", ReplaySpec.of("flaky"));
            await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> flaky.opened.size() == 6);
            bench.anna().start("two", "payments", GIVEN);
            bench.awaited("two", State.DONE);
            assertThat(flaky.opened)
                    .as("the next pause is 3.2 seconds at least")
                    .hasSize(6);
            ReplaySession one = bench.replays.status("one").orElseThrow();
            assertThat(one.state()).isEqualTo(State.RUNNING);
            assertThat(one.error()).contains("the broker is away");
            for (int i = 1; i < 6; i++) {
                assertThat(flaky.opened.get(i) - flaky.opened.get(i - 1))
                        .as("pause %d", i)
                        .isGreaterThanOrEqualTo(Duration.ofMillis(50L << i).toNanos());
            }
            flaky.away = null;
            assertThat(bench.awaited("one", State.DONE).counts())
                    .isEqualTo(new ReplaySession.Counts(60, 60, 0, 0, 0, 0, 0));
            assertThat(bench.db.payments()).isEqualTo(120);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-04 a source that breaks in the middle is opened again behind what was done; its text is not told")
    void middle(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Flaky flaky = new Flaky(bench.given());
            flaky.away = null;
            flaky.breaking = Set.of(3, 5);
            bench.given.addAll(messages(60));
            bench.replayer(paying(Replay.ALLOWED).build(), flaky);
            bench.anna().start("one", "payments", ReplaySpec.of("flaky"));
            ReplaySession one = bench.awaited("one", State.DONE);
            assertThat(one.counts()).isEqualTo(new ReplaySession.Counts(60, 60, 0, 0, 0, 0, 0));
            assertThat(one.error()).contains(UncheckedIOException.class.getName());
            assertThat(flaky.opened).hasSize(3);
            assertThat(bench.db.payments()).isEqualTo(60);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a store that cannot be reached makes the replayer pause, and it goes on when it is there again")
    void store(Database database) {
        AtomicBoolean down = new AtomicBoolean();
        AtomicInteger refused = new AtomicInteger();
        try (ReplayBench bench = new ReplayBench(
                database,
                db -> new UnitDataSource(() -> {
                    if (down.get()) {
                        refused.incrementAndGet();
                        throw new SQLException("scripted", "08001");
                    }
                    return db.plain().getConnection();
                }))) {
            bench.given.addAll(messages(120));
            bench.replayer(paying(Replay.ALLOWED).build());
            down.set(true); // while it looks for sessions
            await().atMost(LONG).until(() -> refused.get() >= 2);
            down.set(false);
            bench.anna().perSecond(60).start("one", "payments", GIVEN);
            await().atMost(LONG).until(() -> bench.db.payments() > 20);
            down.set(true);
            bench.db.execute("UPDATE idem_replay SET lease_until = 1"); // it is away for longer than a lease
            awaitSilence(bench);
            long before = bench.db.payments();
            assertThat(before).isLessThan(120);
            down.set(false);
            ReplaySession one = bench.awaited("one", State.DONE);
            assertThat(bench.db.payments()).isEqualTo(120);
            assertThat(bench.db.number("SELECT count(DISTINCT order_id) FROM payment"))
                    .isEqualTo(120);
            assertThat(one.counts().processed() + one.counts().duplicates())
                    .as("what was handled and not written down is delivered again")
                    .isEqualTo(120);
            assertThat(one.counts().failed()).isZero();
        }
    }

    /** A second without anything done. */
    private static void awaitSilence(ReplayBench bench) {
        long[] last = {-1};
        await().atMost(LONG).pollInterval(Duration.ofSeconds(1)).until(() -> {
            long now = bench.db.payments();
            boolean same = now == last[0];
            last[0] = now;
            return same;
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a service that is stopped lets its session go at once, and another executor goes on with it")
    void stopped(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer consumer = paying(Replay.ALLOWED).build();
            bench.given.addAll(messages(90));
            Replayer first = bench.replayer(consumer, Duration.ofMinutes(5));
            bench.anna().perSecond(60).start("one", "payments", GIVEN);
            await().atMost(LONG).until(() -> bench.db.payments() > 10);
            first.close();
            ReplaySession let = bench.replays.status("one").orElseThrow();
            assertThat(let.state()).isEqualTo(State.RUNNING);
            assertThat(let.leaseUntil()).isEmpty();
            long before = bench.db.payments();
            assertThat(before).isLessThan(90);
            assertThat(let.counts().processed())
                    .as("everything is written down")
                    .isEqualTo(before);
            bench.replayer(consumer, Duration.ofMinutes(5));
            assertThat(bench.awaited("one", State.DONE).counts())
                    .isEqualTo(new ReplaySession.Counts(90, 90, 0, 0, 0, 0, 0));
            assertThat(bench.db.payments()).isEqualTo(90);
        }
    }

    /** A source that is away, or breaks when it is read for the n-th time. */
    private static final class Flaky implements ReplaySource {
        final List<Long> opened = new CopyOnWriteArrayList<>();
        volatile Supplier<RuntimeException> away = () -> new IdemException("the broker is away", null);
        volatile Set<Integer> breaking = Set.of();
        private final AtomicInteger reads = new AtomicInteger();
        private final ReplaySource given;

        Flaky(ReplaySource given) {
            this.given = given;
        }

        @Override
        public String scheme() {
            return "flaky";
        }

        @Override
        public Reading open(ReplaySession session, ReplaySpec spec) {
            opened.add(System.nanoTime());
            Supplier<RuntimeException> wrong = away;
            if (wrong != null) {
                throw wrong.get();
            }
            Reading reading = given.open(session, spec);
            return new Reading() {
                @Override
                public Batch next(int most) {
                    if (breaking.contains(reads.incrementAndGet())) {
                        throw new UncheckedIOException(new IOException("secret payload"));
                    }
                    return reading.next(most);
                }

                @Override
                public OptionalLong total() {
                    return reading.total();
                }

                @Override
                public void close() {
                    reading.close();
                }
            };
        }
    }
}
