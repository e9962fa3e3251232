package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.CommitRefusedException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commits that the database refuses with whatever a deferred trigger says, which no list can know. */
class RefusedCommitTest {
    private static final Policy DEFAULT = Policy.defaults();

    private final AtomicInteger runs = new AtomicInteger();
    private final Set<Connection> opened = ConcurrentHashMap.newKeySet();

    /** A payment of "bad" is refused at the commit. */
    private static Db refusing(String state) {
        Db db = Db.fresh(Database.POSTGRESQL);
        db.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'"
                        + " USING ERRCODE = '" + state + "'; END $$",
                "CREATE CONSTRAINT TRIGGER refusal AFTER INSERT ON payment DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW WHEN (NEW.order_id = 'bad') EXECUTE FUNCTION refuse()");
        return db;
    }

    private Handler<Message, Object> paying() {
        return (message, tx) -> {
            runs.incrementAndGet();
            Db.pay(tx.connection(), message.id().orElseThrow());
            return null;
        };
    }

    private Consumer consumer(Policy policy) {
        return Consumer.named("payments").policy(policy).otherwise(paying()).build();
    }

    private HikariDataSource counted(Db db) {
        DataSource plain = db.plain();
        return db.pool(2, new UnitDataSource(() -> {
            Connection connection = plain.getConnection();
            opened.add(connection);
            return connection;
        }));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ID001", "57014", "F0000", "22012", "23505"})
    @DisplayName("PG-05 a commit refused with whatever state is the handler's failure, after one run on one connection")
    void aRefusedCommitIsTheHandlersFailure(String state) {
        try (Db db = refusing(state);
                Inbox inbox = db.inbox(counted(db))) {
            inbox.accept(consumer(DEFAULT), Db.message("warm"));
            int before = opened.size();
            runs.set(0);
            Outcome<?> outcome = inbox.accept(consumer(DEFAULT), Db.message("bad"));
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.cause())
                        .isInstanceOf(CommitRefusedException.class)
                        .hasMessageContaining(state);
                assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE);
            });
            assertThat(runs).hasValue(1);
            assertThat(opened).as("connections torn down for it").hasSize(before);
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PG-05 also when the handler must not run twice in one delivery, and a declared type is terminal")
    void thePolicyDecides() {
        Policy once = DEFAULT.withMaxRuns(1).withTerminal(Set.of(CommitRefusedException.class));
        try (Db db = refusing("ID001");
                Inbox inbox = db.inbox(db.pool(2))) {
            assertThat(inbox.accept(consumer(once), Db.message("bad")))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Failure.TERMINAL));
            assertThat(runs).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ID001", "22012"})
    @DisplayName("PG-05 RO-01 a refused commit fails its own message of a batch, and the neighbours are processed")
    void theNeighboursOfABatchAreProcessed(String state) {
        try (Db db = refusing(state);
                Inbox inbox = db.inbox(db.pool(2))) {
            List<Message> messages = IntStream.range(0, 16)
                    .mapToObj(i -> Db.message(i == 11 ? "bad" : "good-" + i))
                    .toList();
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer(DEFAULT), messages);
            assertThat(outcomes.get(11)).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.cause()).isInstanceOf(CommitRefusedException.class);
                assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE);
            });
            assertThat(outcomes).filteredOn(Outcome.Processed.class::isInstance).hasSize(15);
            assertThat(db.payments()).isEqualTo(15);
            assertThat(db.markers()).isEqualTo(15);
            // Whole, halves, quarters, eighths and the rest: each message runs at most once for each of them.
            assertThat(runs.get()).isLessThanOrEqualTo(16 * 5);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, ID001", "true, ID001", "false, 22P02", "true, 22012"})
    @DisplayName(
            "PG-05 RO-01 a stored message whose commit is refused is parked after its attempts, and holds up nobody")
    void aStoredMessageIsParked(boolean leased, String state) {
        QueuePolicy queue = (leased ? QueuePolicy.leased(Duration.ofSeconds(30)) : QueuePolicy.inTransaction())
                .withRetry(RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(3))
                .withWorkers(1);
        try (Db db = refusing(state);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer =
                    Consumer.named("payments").queued(queue).otherwise(paying()).build();
            inbox.acceptAll(consumer, List.of(Db.message("a"), Db.message("bad"), Db.message("b"), Db.message("c")));
            inbox.start(consumer);
            await().atMost(Duration.ofSeconds(20))
                    .until(() ->
                            db.payments() == 3 && inbox.queueStats("payments").parked() == 1);
            assertThat(runs.get()).isLessThan(30);
        }
    }
}
