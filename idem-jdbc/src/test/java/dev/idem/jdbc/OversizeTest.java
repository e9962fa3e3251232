package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is larger than a database takes in one piece: max_allowed_packet of MariaDB is 16 MiB here. */
class OversizeTest {
    private static final int TOO_LARGE = 17 << 20;
    private static final List<Message> BATCH = List.of(order("a"), order("large"), order("b"));

    private final AtomicInteger runs = new AtomicInteger();

    private static Message order(String id) {
        return Db.message(id).toBuilder().type("order").build();
    }

    private static boolean isLarge(Message message) {
        return message.id().orElseThrow().startsWith("large");
    }

    private Handler<Message, Object> paying(Handler<Message, Object> more) {
        return (message, tx) -> {
            runs.incrementAndGet();
            Db.pay(tx.connection(), message.id().orElseThrow());
            return more.handle(message, tx);
        };
    }

    @Test
    @DisplayName(
            "MY-10 a handler's write above the packet limit is counted as its failure; the neighbours are processed")
    void aLargeWrite() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            Consumer consumer = writing(db);
            List<String> kinds = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                kinds.add(kind(inbox.accept(consumer, order("large"))));
            }
            assertThat(kinds.get(3)).isEqualTo("RETRYABLE");
            assertThat(kinds(inbox.acceptAll(consumer, BATCH))).containsExactly("Processed", "RETRYABLE", "Processed");
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    private Consumer writing(Db db) {
        db.execute("CREATE TABLE document (body LONGBLOB)");
        return Consumer.named("payments")
                .policy(Policy.defaults().withMaxRuns(2))
                .otherwise(paying((message, tx) -> {
                    if (isLarge(message)) {
                        try (PreparedStatement insert =
                                tx.connection().prepareStatement("INSERT INTO document VALUES (?)")) {
                            insert.setBytes(1, new byte[TOO_LARGE]);
                            insert.executeUpdate();
                        }
                    }
                    return null;
                }))
                .build();
    }

    @Test
    @DisplayName(
            "MY-10 also in the very first batch, of which nothing is known yet: the neighbours are processed at once")
    void aLargeWriteInTheVeryFirstBatch() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            Consumer consumer = writing(db);
            List<String> first = kinds(inbox.acceptAll(consumer, BATCH));
            assertThat(List.of(first.get(0), first.get(2))).containsOnly("Processed");
            assertThat(first.get(1)).isIn("INFRASTRUCTURE", "RETRYABLE");
            assertThat(db.payments()).isEqualTo(2);
            String last = "";
            for (int i = 0; i < 3; i++) {
                last = kinds(inbox.acceptAll(consumer, BATCH)).get(1);
            }
            assertThat(last).isEqualTo("RETRYABLE");
            assertThat(db.payments()).isEqualTo(2);
            assertThat(db.markers()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("MY-10 a result above the cap fails its own message for good, and the neighbours are processed")
    void aLargeResult(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(3))) {
            Consumer consumer = Consumer.named("payments")
                    .on(
                            "order",
                            PayloadDecoder.message(),
                            (message, tx) -> {
                                runs.incrementAndGet();
                                Db.pay(tx.connection(), message.id().orElseThrow());
                                return isLarge(message) ? "x".repeat(TOO_LARGE) : "small";
                            },
                            ResultCodec.text())
                    .build();
            assertThat(kind(inbox.accept(consumer, order("large")))).isEqualTo("TERMINAL");
            assertThat(runs).hasValue(1);
            assertThat(kinds(inbox.acceptAll(consumer, BATCH))).containsExactly("Processed", "TERMINAL", "Processed");
            assertThat(runs).hasValue(4);
            assertThat(db.payments()).isEqualTo(2);
            assertThat(db.markers()).isEqualTo(2);
        }
    }

    @Test
    @DisplayName("MY-10 a deferred statement above the packet limit fails its own message for good")
    void aLargeDeferredStatement() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            db.execute("CREATE TABLE document (body LONGBLOB)");
            Consumer consumer = Consumer.named("payments")
                    .otherwise(paying((message, tx) -> {
                        tx.defer(
                                "INSERT INTO document VALUES (?)",
                                isLarge(message) ? new byte[TOO_LARGE] : new byte[1]);
                        return null;
                    }))
                    .build();
            assertThat(kind(inbox.accept(consumer, order("large")))).isEqualTo("TERMINAL");
            assertThat(kinds(inbox.acceptAll(consumer, BATCH))).containsExactly("Processed", "TERMINAL", "Processed");
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    @Test
    @DisplayName("MY-10 deferred statements of a batch that are too large together are sent all the same")
    void deferredStatementsThatAreLargeTogether() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            db.execute("CREATE TABLE document (body LONGBLOB)");
            Consumer consumer = Consumer.named("payments")
                    .otherwise(paying((message, tx) -> {
                        tx.defer("INSERT INTO document VALUES (?)", (Object) new byte[2 << 20]);
                        return null;
                    }))
                    .build();
            List<Message> messages =
                    IntStream.range(0, 12).mapToObj(i -> order("m" + i)).toList();
            assertThat(kinds(inbox.acceptAll(consumer, messages))).containsOnly("Processed");
            assertThat(runs).as("calls of handlers").hasValue(12);
            assertThat(db.number("SELECT count(*) FROM document")).isEqualTo(12);
        }
    }

    @Test
    @DisplayName("MY-10 a published message above the packet limit fails the one that publishes it, for good")
    void aLargePublication() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            Consumer consumer = Consumer.named("payments")
                    .publishesTo(Outbox.named("shipping").withMaxBytes(64 << 20))
                    .otherwise(paying((message, tx) -> {
                        byte[] payload = new byte[isLarge(message) ? TOO_LARGE : 1];
                        tx.publish(
                                "shipping", Message.builder().payload(payload).build());
                        return null;
                    }))
                    .build();
            assertThat(kinds(inbox.acceptAll(consumer, BATCH))).containsExactly("Processed", "TERMINAL", "Processed");
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    @Test
    @DisplayName(
            "MY-10 messages that are too large together, once their bytes are written as text, are stored all the same")
    void storedMessagesThatAreLargeTogether() {
        List<Integer> again = new CopyOnWriteArrayList<>();
        InboxListener listener = new InboxListener() {
            @Override
            public void ranAgain(String consumer, int run, Throwable cause) {
                again.add(run);
            }
        };
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox =
                        Inbox.builder(db.store(db.pool(3))).listener(listener).build()) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withBatchLimits(100, 32 << 20))
                    .queued(QueuePolicy.inTransaction())
                    .otherwise(paying((message, tx) -> null))
                    .build();
            List<Message> messages = IntStream.range(0, 24)
                    .mapToObj(i -> Message.of("m" + i, new byte[1 << 19])) // each zero is sent as two bytes
                    .toList();
            assertThat(kinds(inbox.acceptAll(consumer, messages))).containsOnly("Stored");
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isEqualTo(24);
            inbox.close(); // all that listeners are told was told
            assertThat(again).isEmpty();
        }
    }

    @Test
    @DisplayName("MY-10 a message above the packet limit is not stored and fails for good; its neighbours are stored")
    void aStoredMessageThatIsTooLarge() {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox(db.pool(3))) {
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction().withMaxBytes(64 << 20))
                    .policy(Policy.defaults().withBatchLimits(100, 64 << 20))
                    .otherwise(paying((message, tx) -> null))
                    .build();
            List<Message> messages = List.of(order("a"), Message.of("large", new byte[TOO_LARGE]), order("b"));
            assertThat(kinds(inbox.acceptAll(consumer, messages))).containsExactly("Stored", "TERMINAL", "Stored");
        }
    }

    @Test
    @DisplayName("MY-10 no result above half of max_allowed_packet is stored, whatever the policy allows")
    void theDatabasesLimitHolds() {
        try (Db db = Db.fresh(Database.MARIADB);
                JdbcStore store = db.store()) {
            assertThat(store.largestResult()).isLessThanOrEqualTo(8 << 20);
            try (Inbox inbox = Inbox.create(store)) {
                Consumer consumer = Consumer.named("payments")
                        .policy(Policy.defaults().withMaxResultBytes(64 << 20))
                        .on(
                                "order",
                                PayloadDecoder.message(),
                                (message, tx) -> {
                                    Db.pay(tx.connection(), message.id().orElseThrow());
                                    return "\0"
                                            .repeat(
                                                    isLarge(message)
                                                            ? store.largestResult() + 1
                                                            : store.largestResult());
                                },
                                ResultCodec.text())
                        .build();
                assertThat(kind(inbox.accept(consumer, order("large")))).isEqualTo("TERMINAL");
                assertThat(kind(inbox.accept(consumer, order("fits")))).isEqualTo("Processed");
                assertThat(inbox.accept(consumer, order("fits")) instanceof Outcome.Duplicate<?> duplicate
                                && duplicate.storedResult().isPresent())
                        .isTrue();
            }
        }
    }

    private static List<String> kinds(List<Outcome<?>> outcomes) {
        return outcomes.stream().map(OversizeTest::kind).toList();
    }

    private static String kind(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed
                ? failed.kind().name()
                : outcome.getClass().getSimpleName();
    }
}
