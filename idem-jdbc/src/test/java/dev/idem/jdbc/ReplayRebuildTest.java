package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySpec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A projection that is emptied and rebuilt from stored messages, beside the traffic of every day. */
class ReplayRebuildTest {
    private static final Consumer SUMS = Consumer.named("sums")
            .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
            .queued(QueuePolicy.inTransaction().withOrderByKey().withWorkers(3).withPayloadWindow(Duration.ofDays(1)))
            .otherwise((message, tx) -> {
                add(tx.connection(), message);
                return null;
            })
            .build();

    /** Neither twice nor in another order gives the same row. */
    private static void add(Connection connection, Message message) throws SQLException {
        String key = message.orderingKey().orElseThrow();
        String id = message.id().orElseThrow();
        try (PreparedStatement update = connection.prepareStatement(
                        "UPDATE sums SET total = total * 31 % 1000003 + ?, ids = ids + 1 WHERE account = ?");
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO sums (account, total, ids) VALUES (?, ?, 1)")) {
            update.setLong(1, message.payload().length);
            update.setString(2, key);
            if (update.executeUpdate() == 0) {
                insert.setString(1, key);
                insert.setLong(2, message.payload().length + id.length());
                insert.executeUpdate();
            }
        }
    }

    private static Message message(String account, int number) {
        return Message.builder()
                .id(account + "-" + number)
                .orderingKey(account)
                .payload("x".repeat(number * 7 % 41).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-04 a projection rebuilt from stored messages equals the original, while messages go on coming")
    void rebuilt(Database database) throws Exception {
        try (ReplayBench bench = new ReplayBench(database)) {
            bench.db.execute("CREATE TABLE sums (account VARCHAR(20) PRIMARY KEY, total BIGINT, ids BIGINT)");
            bench.inbox.start(SUMS);
            bench.replayer(SUMS);
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                messages.add(message("a" + i % 7, i));
            }
            bench.inbox.acceptAll(SUMS, messages);
            bench.inbox.accept(SUMS, message("beside", 0));
            await().atMost(Duration.ofSeconds(60)).until(() -> done(bench));
            String original = dump(bench, "<>");
            AtomicBoolean stop = new AtomicBoolean();
            int[] sent = {1};
            Thread traffic = new Thread(() -> {
                while (!stop.get()) {
                    synchronized (sent) {
                        bench.inbox.accept(SUMS, message("beside", sent[0]++));
                    }
                }
            });
            traffic.start();
            try {
                await().until(() -> sent[0] > 20);
                if (database == Database.H2) { // where a time is that of the transaction's first statement
                    synchronized (sent) {
                        await().atMost(Duration.ofSeconds(60)).until(() -> done(bench));
                        empty(bench, "rebuild-1");
                    }
                } else {
                    empty(bench, "rebuild-1");
                }
                bench.awaited("rebuild-1", State.DONE);
                await().until(() -> sent[0] > 60);
            } finally {
                stop.set(true);
                traffic.join();
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> done(bench));
            assertThat(dump(bench, "<>")).isEqualTo(original);
            assertThat(bench.db.number("SELECT ids FROM sums WHERE account = 'beside'"))
                    .as("each of the messages beside it counts once")
                    .isEqualTo(sent[0]);
            empty(bench, "rebuild-2");
            assertThat(bench.awaited("rebuild-2", State.DONE).counts().duplicates())
                    .as("the copies of the first session are not read")
                    .isZero();
            await().atMost(Duration.ofSeconds(60)).until(() -> done(bench));
            assertThat(dump(bench, "<>")).isEqualTo(original);
        }
    }

    private static boolean done(ReplayBench bench) {
        return bench.db.number("SELECT count(*) FROM idem_queue") == 0;
    }

    /** In one transaction with the request, so that it is certain what was there before it. */
    private static void empty(ReplayBench bench, String session) throws SQLException {
        try (Connection connection = DriverManager.getConnection(bench.db.url());
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(bench.db.kind() == Database.POSTGRESQL ? "TRUNCATE sums" : "DELETE FROM sums");
            bench.anna().startWithin(connection, session, "sums", ReplaySpec.of("stored"));
            connection.commit();
        }
    }

    private static String dump(ReplayBench bench, String relation) throws SQLException {
        StringBuilder text = new StringBuilder();
        try (Connection connection = DriverManager.getConnection(bench.db.url());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT account, total, ids FROM sums WHERE account " + relation
                        + " 'beside' ORDER BY account")) {
            while (rows.next()) {
                text.append(rows.getString(1))
                        .append(' ')
                        .append(rows.getLong(2))
                        .append(' ')
                        .append(rows.getLong(3))
                        .append('\n');
            }
        }
        return text.toString();
    }
}
