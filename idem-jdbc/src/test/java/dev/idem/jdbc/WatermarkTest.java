package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.Rejection;
import dev.idem.ResultCodec;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.FaultPoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One mark for each partition instead of one marker for each message. */
@Tag("second-pass")
class WatermarkTest {
    private static final Handler<Message, Object> PAY = (message, tx) -> {
        Db.pay(tx.connection(), order(message));
        return null;
    };

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("positions at or below the mark are duplicates; no marker is written")
    void recognisesRedelivery(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Inbox restarted = db.inbox()) {
            Consumer consumer = watermark(PAY);
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 0, 20)))
                    .allMatch(o -> o instanceof Outcome.Processed);
            assertThat(inbox.accept(consumer, at("t", 0, 25))).isInstanceOf(Outcome.Processed.class); // a gap
            List<Outcome<?>> again = restarted.acceptAll(consumer, positions("t", 0, 10, 30));
            for (int offset = 10; offset < 30; offset++) {
                assertThat(again.get(offset - 10))
                        .as("offset %s", offset)
                        .isInstanceOf(offset <= 25 ? Outcome.Duplicate.class : Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(25);
            assertThat(db.markers()).isZero();
            assertThat(db.number("SELECT count(*) FROM idem_watermark")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a recreated stream and another partition have marks of their own")
    void knowsTheSource(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = watermark(PAY);
            List<Message> mixed = new ArrayList<>();
            mixed.addAll(positions("old", 0, 0, 5));
            mixed.addAll(positions("old", 1, 0, 5));
            mixed.addAll(positions("new", 0, 0, 5));
            assertThat(inbox.acceptAll(consumer, mixed)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(inbox.acceptAll(consumer, mixed)).allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(db.payments()).isEqualTo(15);
            assertThat(db.number("SELECT count(*) FROM idem_watermark")).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a partition that stopped at a message goes on when that one was set aside elsewhere")
    void goesOnBehindWhatWasSetAside(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = watermark((message, tx) -> {
                if (offset(message) == 3) {
                    throw new IllegalStateException("never");
                }
                Db.pay(tx.connection(), order(message));
                return null;
            });
            inbox.acceptAll(consumer, positions("t", 0, 0, 6));
            inbox.settledBefore(consumer, new Position("t", 0, 3));
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 4, 6))).allMatch(o -> o instanceof Outcome.Held);
            inbox.settledBefore(consumer, new Position("t", 0, 4));
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 4, 6)))
                    .allMatch(o -> o instanceof Outcome.Processed);
            assertThat(db.payments()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("nothing is applied behind a message that failed, in the same call or a later one")
    void stopsAtAFailure(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            AtomicBoolean broken = new AtomicBoolean(true);
            Consumer consumer = watermark((message, tx) -> {
                Db.pay(tx.connection(), order(message));
                if (offset(message) == 3 && broken.get()) {
                    throw new IllegalStateException("not yet");
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, positions("t", 0, 0, 6));
            assertThat(outcomes.subList(0, 3)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Failed.class);
            assertThat(outcomes.subList(4, 6)).allMatch(o -> o instanceof Outcome.Held);
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 4, 8))).allMatch(o -> o instanceof Outcome.Held);
            assertThat(inbox.accept(consumer, at("t", 0, 9))).isInstanceOf(Outcome.Held.class);
            assertThat(inbox.accept(consumer, at("t", 1, 9))).isInstanceOf(Outcome.Processed.class);
            broken.set(false);
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 3, 10)))
                    .allMatch(o -> o instanceof Outcome.Processed);
            assertThat(db.payments()).isEqualTo(11);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a message that is dead-lettered is passed only by the next call, when it was set aside")
    void deadLetterIsNotPassedInTheSameCall(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Inbox crashed = db.inbox()) {
            Consumer consumer = watermark((message, tx) -> {
                Db.pay(tx.connection(), order(message));
                if (offset(message) == 2) {
                    throw new TerminalException("never", null);
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, positions("t", 0, 0, 4));
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Failed.class);
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Held.class);
            // A crash before it was published: it is delivered again, and is not a duplicate.
            assertThat(crashed.accept(consumer, at("t", 0, 2))).isInstanceOf(Outcome.Failed.class);
            assertThat(inbox.accept(consumer, at("t", 0, 3))).isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a zombie and its successor serialise on the mark")
    void zombieIsHarmless(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox zombie = db.inbox();
                Inbox successor = db.inbox()) {
            CountDownLatch paused = new CountDownLatch(1);
            CountDownLatch wake = new CountDownLatch(1);
            AtomicInteger runs = new AtomicInteger();
            Consumer slow = watermark((message, tx) -> {
                Db.pay(tx.connection(), order(message));
                if (runs.incrementAndGet() == 3) {
                    paused.countDown();
                    Together.await(wake);
                }
                return null;
            });
            assertThat(zombie.accept(slow, at("t", 0, 0))).isInstanceOf(Outcome.Processed.class);
            Future<List<Outcome<?>>> late = Together.start(() -> zombie.acceptAll(slow, positions("t", 0, 1, 6)));
            Together.await(paused);
            Consumer impatient = watermark(PAY, policy -> policy.withBusyWait(Duration.ofMillis(200)));
            assertThat(successor.acceptAll(impatient, positions("t", 0, 1, 6)))
                    .allMatch(o -> o instanceof Outcome.Busy);
            Future<List<Outcome<?>>> waiting = Together.start(() -> successor.acceptAll(
                    watermark(PAY, p -> p.withBusyWait(Duration.ofSeconds(20))), positions("t", 0, 1, 6)));
            db.awaitBlocked(1);
            wake.countDown();
            assertThat(Together.get(late)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(Together.get(waiting))
                    .allMatch(o -> o instanceof Outcome.Duplicate || o instanceof Outcome.Busy);
            assertThat(db.payments()).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a crash between any two steps loses and doubles nothing")
    void crashesAnywhere(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            int round = 0;
            for (FaultPoint step : FaultPoint.values()) {
                String stream = "t" + round++;
                try (Inbox crashing = Inbox.builder(db.store())
                                .steps((at, key) -> {
                                    if (at == step) {
                                        throw new StoreException("crash at " + at, null);
                                    }
                                })
                                .build();
                        Inbox successor = db.inbox()) {
                    crashing.acceptAll(watermark(PAY), positions(stream, 0, 0, 5));
                    assertThat(successor.acceptAll(watermark(PAY), positions(stream, 0, 0, 5)))
                            .allMatch(o -> o instanceof Outcome.Processed || o instanceof Outcome.Duplicate);
                }
                assertThat(db.payments()).as("after a crash at %s", step).isEqualTo(5L * round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void hiddenCommitMovesTheMarkAsFarAsItWent(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            if (database == Database.MARIADB) {
                db.execute("CREATE PROCEDURE sneaky() BEGIN COMMIT; END");
            }
            Consumer consumer = watermark((message, tx) -> {
                Db.pay(tx.connection(), order(message));
                if (offset(message) == 2) {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute(database == Database.MARIADB ? "CALL sneaky()" : "SELECT 1; COMMIT");
                    }
                }
                return null;
            });
            List<Outcome<?>> outcomes = inbox.acceptAll(consumer, positions("t", 0, 0, 5));
            assertThat(outcomes.subList(0, 2)).allMatch(o -> o instanceof Outcome.Processed);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Failed.class);
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 3, 5)))
                    .allMatch(o -> o instanceof Outcome.Processed);
            assertThat(inbox.acceptAll(consumer, positions("t", 0, 0, 5)))
                    .allMatch(o -> o instanceof Outcome.Duplicate);
            assertThat(db.payments()).isEqualTo(5);
        }
    }

    @Test
    void refusesWhatItCannotKeep() {
        try (Db db = Db.fresh(Database.H2);
                Inbox inbox = db.inbox()) {
            Outcome<?> outcome = inbox.accept(watermark(PAY), Db.message("1"));
            assertThat(((Outcome.Rejected<?>) outcome).reason()).isEqualTo(Rejection.KEY_MISSING);
            assertThatThrownBy(() -> Consumer.named("w")
                            .watermark()
                            .key(KeySelector.messageId())
                            .build())
                    .hasMessageContaining("both a key and a watermark");
            assertThatThrownBy(() -> Consumer.named("w")
                            .watermark()
                            .on("x", m -> m, (m, tx) -> "", ResultCodec.text())
                            .build())
                    .hasMessageContaining("result is kept");
            assertThatThrownBy(() -> inbox.process(watermark(PAY), at("t", 0, 0), tx -> null))
                    .hasMessageContaining("accept");
        }
    }

    static Consumer watermark(Handler<Message, ?> handler) {
        return watermark(handler, policy -> policy);
    }

    static Consumer watermark(Handler<Message, ?> handler, UnaryOperator<Policy> change) {
        return Consumer.named("watermark")
                .watermark()
                .policy(change.apply(Policy.defaults()))
                .otherwise(handler)
                .build();
    }

    static List<Message> positions(String stream, int partition, int from, int to) {
        List<Message> messages = new ArrayList<>();
        for (int offset = from; offset < to; offset++) {
            messages.add(at(stream, partition, offset));
        }
        return messages;
    }

    static Message at(String stream, int partition, long offset) {
        return Message.builder()
                .position(new Position(stream, partition, offset))
                .build();
    }

    static long offset(Message message) {
        return message.position().orElseThrow().offset();
    }

    static String order(Message message) {
        return message.position().orElseThrow().toString();
    }
}
