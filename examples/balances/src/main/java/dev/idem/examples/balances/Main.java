package dev.idem.examples.balances;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueStats;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import dev.idem.sequence.Gap;
import dev.idem.sequence.Sequence;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/**
 * Bookings arrive in disorder and twice, and are applied once each and in the order of their versions. One is missing at
 * first, and those behind it wait. In the end the balances are thrown away, and built anew from the stored bookings.
 */
public final class Main {
    private static final List<String> BOOKINGS = List.of("+100", "-30", "+50", "-20", "+1"); // versions 1 to 5

    private Main() {}

    public static void main(String[] args) throws Exception {
        tell(Shop.database(), System.out);
    }

    static void tell(DataSource database, PrintStream out) throws Exception {
        Shop.execute(database, "CREATE TABLE balance (account VARCHAR(20), cents INT, bookings VARCHAR(100))");
        Consumer balances = Consumer.named("balances")
                .queued(QueuePolicy.inTransaction().withPayloadWindow(Duration.ofDays(90))) // kept for replays
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                .sequence(Sequence.by(Message::orderingKey, Sequence.header("version"))
                        .startingAt(Sequence.Start.at(1)))
                .on(
                        "booked",
                        PayloadDecoder.text(),
                        (booking, tx) ->
                                book(tx.connection(), tx.message().orderingKey().orElseThrow(), booking))
                .build();

        JdbcSchema schema = JdbcSchema.of(database);
        try (Inbox inbox = Inbox.create(JdbcStore.create(database));
                Replayer replayer = Replayer.builder(inbox)
                        .consumer(balances)
                        .source(JdbcReplays.stored(schema))
                        .start()) {
            for (int version : List.of(2, 5, 1, 2, 4, 5, 1)) {
                deliver(inbox, balances, version);
            }
            inbox.start(balances);
            waitUntilOnlyHeldAreLeft(inbox);
            out.println("Applied: " + balances(database));
            for (Gap gap : inbox.gaps("balances")) {
                out.println("Gap: " + gap.waiting() + " of " + gap.stream() + " wait for version " + gap.missing());
            }

            deliver(inbox, balances, 3);
            waitUntilOnlyHeldAreLeft(inbox);
            out.println("Applied: " + balances(database));
            out.println("Gaps: " + inbox.gaps("balances").size());

            out.println("Thrown away: " + emptyAndReplay(database, schema) + " row");
            while (state(schema) != ReplaySession.State.DONE) {
                Thread.sleep(50);
            }
            waitUntilOnlyHeldAreLeft(inbox);
            out.println("Rebuilt: " + balances(database));
        }
    }

    /** In one transaction, so that it is certain what the session must bring back. */
    private static int emptyAndReplay(DataSource database, JdbcSchema schema) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            int rows = statement.executeUpdate("DELETE FROM balance");
            JdbcReplays.of(schema)
                    .as("anna", "the example shows it")
                    .startWithin(connection, "rebuild-1", "balances", ReplaySpec.of("stored"));
            connection.commit();
            return rows;
        }
    }

    /** The business: the order of bookings matters to it, and one that came twice would be seen. */
    private static void book(Connection connection, String account, String booking) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(
                        "UPDATE balance SET cents = cents + ?, bookings = bookings || ' ' || ? WHERE account = ?");
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO balance (cents, bookings, account) VALUES (?, ?, ?)")) {
            for (PreparedStatement statement : List.of(update, insert)) {
                statement.setInt(1, Integer.parseInt(booking));
                statement.setString(2, booking);
                statement.setString(3, account);
            }
            if (update.executeUpdate() == 0) {
                insert.executeUpdate();
            }
        }
    }

    /** What a listener does for you: whatever is not acknowledged would have to come again, or be set aside. */
    private static void deliver(Inbox inbox, Consumer balances, int version) {
        Outcome<?> outcome = inbox.accept(balances, booked("alice", version));
        if (outcome.settlement() != Settlement.ACK) {
            throw new IllegalStateException("Version " + version + " was not acknowledged: " + outcome);
        }
    }

    private static Message booked(String account, int version) {
        return Message.builder()
                .id(account + "-" + version)
                .type("booked")
                .orderingKey(account)
                .header("version", Integer.toString(version))
                .payload(BOOKINGS.get(version - 1).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static void waitUntilOnlyHeldAreLeft(Inbox inbox) throws InterruptedException {
        QueueStats stats = inbox.queueStats("balances");
        while (stats.pending() > 0) {
            Thread.sleep(50);
            stats = inbox.queueStats("balances");
        }
    }

    private static ReplaySession.State state(JdbcSchema schema) {
        return JdbcReplays.of(schema).status("rebuild-1").orElseThrow().state();
    }

    private static List<String> balances(DataSource database) throws SQLException {
        return Shop.select(database, "SELECT account || ' has ' || cents || ', after ' || bookings FROM balance");
    }
}
