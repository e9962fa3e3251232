package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.ResultCodec;
import dev.idem.Transaction;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.Replayer;
import dev.idem.sequence.Sequence;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Starts this build on tables that another one has left, with rows in every state, and looks for each of them. The rows are
 * frozen when their version is released: see {@link SchemaVersionsTest}.
 */
class UpgradeTest {
    private static final QueuePolicy LEASED =
            QueuePolicy.leased(Duration.ofSeconds(30)).withWorkers(1).withPoll(Duration.ofMillis(20));

    private static Consumer paying(Consumer.Builder builder) {
        return builder.otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    private static final Consumer ORDERS = paying(Consumer.named("orders")
            .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
            .queued(LEASED.withOrderByKey()));
    private static final Consumer PAYMENTS = Consumer.of("payments");
    private static final Consumer MARKS = paying(Consumer.named("marks").watermark());
    private static final Consumer STREAMS = paying(Consumer.named("streams")
            .queued(LEASED)
            .sequence(Sequence.by(message -> message.header("stream"), Sequence.header("version"))));

    /** The tables of version 1, and its rows. */
    private static Db version1(Database database) throws IOException {
        Db db = Db.fresh(database);
        String name = "schema/v1/" + database.label() + "-rows.sql";
        try (InputStream file = UpgradeTest.class.getResourceAsStream(name)) {
            JdbcSchema schema = JdbcSchema.of(db.plain());
            schema.apply();
            String rows = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            db.execute(Script.statements(schema.tables().fill(rows)).toArray(String[]::new));
        }
        return db;
    }

    private static Message message(String id) {
        return Message.of(id, ("payload of " + id).getBytes(StandardCharsets.UTF_8));
    }

    private static void awaitPaid(Db db, String... ids) {
        for (String id : ids) {
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(db.payments(id)).as(id).isEqualTo(1));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-09 PC-04 stored messages of version 1 are picked up in whatever state they are, and are duplicates still")
    void queue(Database database) throws Exception {
        try (Db db = version1(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            inbox.start(ORDERS);
            awaitPaid(db, "o-received", "o-leased", "o-failed", "o-held");
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
            long parked = operator.find("orders", "o-parked").orElseThrow();
            InboxMessage.Detail detail = operator.show(parked).orElseThrow();
            assertThat(detail.unreadable()).isEmpty();
            assertThat(detail.attempts()).hasSize(1);
            assertThat(detail.audit()).extracting(InboxMessage.Audit::actor).containsExactly("anna");
            assertThat(operator.revisions(parked)).hasSize(1);
            assertThat(operator.as("ben", "now").retry(parked).result()).isEqualTo(InboxAnswer.Result.CHANGED);
            awaitPaid(db, "o-parked");
            for (String id : List.of("o-received", "o-leased", "o-failed", "o-held", "o-parked", "o-given-up")) {
                assertThat(inbox.accept(ORDERS, message(id))).as(id).isInstanceOf(Outcome.Duplicate.class);
            }
            Message changed = Message.of("o-received", new byte[] {1});
            assertThat(inbox.accept(ORDERS, changed)).isInstanceOf(Outcome.Conflict.class);
            assertThat(db.payments()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-09 RP-06 a sweep sees what is over in version 1, and leaves what is young or waits")
    void sweep(Database database) throws Exception {
        try (Db db = version1(database);
                Inbox inbox = db.inbox()) {
            Instant beforeHorizon = Instant.parse("2024-01-15T00:00:00Z");
            Message forgotten =
                    message("m-forgotten").toBuilder().eventTime(beforeHorizon).build();
            assertThat(inbox.run(PAYMENTS, forgotten, Transaction::nothingToDo))
                    .isInstanceOf(Outcome.Undecidable.class);
            Outcome<String> young = inbox.process(PAYMENTS, message("m-young"), ResultCodec.text(), tx -> "never");
            assertThat(((Outcome.Duplicate<String>) young).storedResult()).contains("receipt of m-young");
            inbox.register(ORDERS);
            inbox.register(Consumer.of("charges"));
            db.execute("UPDATE idem_retention SET swept_at = NULL"); // it goes two days at once, and years have passed

            JdbcRetention.of(JdbcSchema.of(db.plain())).run(List.of(), progress -> {});

            assertThat(markers(db, 2)).containsExactlyInAnyOrder("m-young", null);
            assertThat(db.number("SELECT count(*) FROM idem_result")).isEqualTo(2);
            assertThat(markers(db, 1))
                    .containsExactlyInAnyOrder("o-received", "o-leased", "o-failed", "o-held", "o-parked");
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 5"))
                    .isZero();
            assertThat(db.number("SELECT count(*) FROM idem_attempt WHERE queue_id = 6"))
                    .isZero();
            assertThat(db.number("SELECT count(*) FROM idem_step WHERE place = -1"))
                    .isZero();
            assertThat(db.number("SELECT count(*) FROM idem_step WHERE place >= 0"))
                    .isEqualTo(2);
        }
    }

    private static List<String> markers(Db db, int consumer) throws Exception {
        List<String> names = new ArrayList<>();
        try (var connection = db.plain().getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT readable FROM idem_marker WHERE consumer = " + consumer)) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-09 steps of version 1 go on where they were: what is done is not done again")
    void steps(Database database) throws Exception {
        List<String> done = Collections.synchronizedList(new ArrayList<>());
        Consumer charges = Consumer.named("charges")
                .queued(LEASED)
                .otherwiseSteps((message, steps) -> {
                    done.add(steps.step("reserve", ResultCodec.text(), tx -> "again"));
                    done.add(steps.effect("charge", ResultCodec.text(), key -> "again"));
                    steps.step("book", tx -> Db.pay(tx.connection(), "booked"));
                })
                .build();
        try (Db db = version1(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            inbox.start(charges);
            awaitPaid(db, "booked");
            assertThat(done).containsExactly("reserved in 2024", "charged in 2024");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-09 marks and sequences of version 1 hold, and what waited for its version is released")
    void positions(Database database) throws Exception {
        try (Db db = version1(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            Message done = message("p41").toBuilder()
                    .position(new Position("topic", 0, 41))
                    .build();
            Message next = message("p42").toBuilder()
                    .position(new Position("topic", 0, 42))
                    .build();
            assertThat(inbox.acceptAll(MARKS, List.of(done)).get(0)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(inbox.acceptAll(MARKS, List.of(next)).get(0)).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.gaps("streams")).hasSize(1);
            inbox.start(STREAMS);
            inbox.accept(STREAMS, version("s-3", 3));
            inbox.accept(STREAMS, version("s-4", 4));
            awaitPaid(db, "s-4", "s-5");
            assertThat(db.payments("s-3")).isZero();
        }
    }

    private static Message version(String id, long version) {
        return message(id).toBuilder()
                .header("stream", "acct")
                .header("version", Long.toString(version))
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-09 replay sessions of version 1 are taken up, and find the messages that are kept")
    void replays(Database database) throws Exception {
        try (Db db = version1(database);
                Inbox inbox = db.inbox(db.pool(8))) {
            JdbcSchema schema = JdbcSchema.of(db.plain());
            JdbcReplays replays = JdbcReplays.of(schema);
            try (Replayer replayer = Replayer.builder(inbox)
                    .consumer(ORDERS)
                    .source(JdbcReplays.stored(schema))
                    .poll(Duration.ofMillis(20))
                    .start()) {
                assertThat(replayer).isNotNull();
                awaitDone(replays, "requested");
                awaitDone(replays, "abandoned");
                assertThat(replays.status("paused").map(ReplaySession::state)).contains(ReplaySession.State.PAUSED);
                replays.as("ben", "go on").resume("paused");
                awaitDone(replays, "paused");
            }
            inbox.start(ORDERS);
            await().atMost(Duration.ofSeconds(30)).until(() -> db.payments("o-kept") == 3);
            assertThat(replays.status("requested").orElseThrow().counts().processed())
                    .isEqualTo(2);
            assertThat(db.text("SELECT inbox_id FROM idem_meta")).isNotBlank();
        }
    }

    private static void awaitDone(JdbcReplays replays, String name) {
        await().atMost(Duration.ofSeconds(30))
                .until(() ->
                        replays.status(name).map(ReplaySession::state).equals(Optional.of(ReplaySession.State.DONE)));
    }
}
