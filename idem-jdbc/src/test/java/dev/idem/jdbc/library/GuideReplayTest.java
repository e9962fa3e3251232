package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The snippets of the page on replays. */
class GuideReplayTest {
    private final JdbcDataSource dataSource = new JdbcDataSource();

    @Test
    void rebuild() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute("CREATE TABLE totals (order_id VARCHAR(50))");
        }
        // region replay-consumer
        Consumer totals = Consumer.named("totals")
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .queued(QueuePolicy.inTransaction().withPayloadWindow(Duration.ofDays(90)))
                .otherwise((order, tx) -> tx.defer(
                        "INSERT INTO totals (order_id) VALUES (?)", order.id().orElseThrow()))
                .build();
        Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
        inbox.start(totals);
        JdbcSchema schema = JdbcSchema.of(dataSource);
        Replayer replayer = Replayer.builder(inbox)
                .consumer(totals)
                .source(JdbcReplays.stored(schema))
                .start();
        // endregion
        Message message = Message.of("m-1", "order".getBytes(StandardCharsets.UTF_8));
        inbox.accept(totals, message);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> count() == 1 && JdbcInbox.of(schema).stats().get(0).pending() == 0);
        String emptying = "DELETE FROM totals"; // nobody is writing to it
        // region replay-start
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            connection.createStatement().execute(emptying); // "TRUNCATE totals" on PostgreSQL: see below
            JdbcReplays.of(schema)
                    .as("anna", "the sums were wrong")
                    .perSecond(500)
                    .startWithin(connection, "totals-2026-03", "totals", ReplaySpec.of("stored"));
            connection.commit();
        }
        // endregion
        await().atMost(Duration.ofSeconds(30))
                .until(() -> JdbcReplays.of(schema)
                                .status("totals-2026-03")
                                .orElseThrow()
                                .state()
                        == ReplaySession.State.DONE);
        await().atMost(Duration.ofSeconds(20)).until(() -> count() == 1);
        replayer.close();
        inbox.close();
        try (Inbox door = Inbox.create(JdbcStore.create(dataSource))) {
            door.accept(totals, Message.of("m-2", "borken".getBytes(StandardCharsets.UTF_8)));
        }
        long id = JdbcInbox.of(schema).find("totals", "m-2").orElseThrow();
        JdbcInbox.of(schema).as("anna", "stop").park(id);
        byte[] repaired = "broken".getBytes(StandardCharsets.UTF_8);
        // region repair
        var anna = JdbcInbox.of(schema).as("anna", "the producer sent a wrong currency");
        anna.edit(
                id, InboxEdit.nothing().payload(repaired).header("region", "eu").withoutHeader("debug"));
        anna.retry(id);
        // endregion
        assertThat(JdbcInbox.of(schema).revisions(id)).hasSize(1);
    }

    private long count() throws Exception {
        try (Connection connection = dataSource.getConnection();
                ResultSet rows = connection.createStatement().executeQuery("SELECT count(*) FROM totals")) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
