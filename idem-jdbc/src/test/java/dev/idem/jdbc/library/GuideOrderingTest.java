package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.StateTransition;
import dev.idem.jdbc.VersionedUpsert;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Gap;
import dev.idem.sequence.GapResolver;
import dev.idem.sequence.Sequence;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The snippets of the page on ordering. */
class GuideOrderingTest {
    private final JdbcDataSource dataSource = new JdbcDataSource();

    @Test
    void sequence() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        execute("CREATE TABLE balance (account VARCHAR(50) PRIMARY KEY, amount INT)");
        execute("INSERT INTO balance (account, amount) VALUES ('alice', 0)");
        // region sequence
        Sequence sequence = Sequence.by(Message::orderingKey, Sequence.header("version"))
                .startingAt(Sequence.Start.at(1))
                .gapDeadline(Duration.ofMinutes(2))
                .onGap(GapResolver.fetch(this::fromTheSource).orElse(GapResolver.parkKey()));
        Consumer balances = Consumer.named("balances")
                .queued(QueuePolicy.inTransaction())
                .sequence(sequence)
                .on(
                        "Booked",
                        PayloadDecoder.text(),
                        (amount, tx) -> tx.defer(
                                "UPDATE balance SET amount = amount + ? WHERE account = ?",
                                Integer.valueOf(amount),
                                tx.message().orderingKey().orElseThrow()))
                .build();
        // endregion
        try (Inbox inbox = Inbox.create(JdbcStore.create(dataSource))) {
            inbox.start(balances);
            inbox.accept(balances, booked(2, "30"));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> !inbox.gaps("balances").isEmpty());
            // region gaps
            List<Gap> gaps = inbox.gaps("balances");
            boolean healthy = gaps.stream().noneMatch(gap -> gap.age().compareTo(Duration.ofMinutes(5)) > 0);
            // endregion
            assertThat(gaps).hasSize(1);
            assertThat(healthy).isTrue();
            inbox.accept(balances, booked(1, "12"));
            await().atMost(Duration.ofSeconds(20)).until(() -> number("SELECT amount FROM balance") == 42);
        }
    }

    @Test
    void strategies() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        execute("CREATE TABLE stock (sku VARCHAR(50) PRIMARY KEY, version BIGINT NOT NULL, amount INT)");
        execute("CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(20))");
        execute("INSERT INTO orders (id, state) VALUES (7, 'PAID')");
        try (Connection connection = dataSource.getConnection()) {
            // region upsert
            VersionedUpsert stock =
                    VersionedUpsert.of(Database.H2, "stock", List.of("sku"), "version", List.of("amount"));
            VersionedUpsert.Result written = stock.apply(connection, List.of("pen"), 17, List.of(240));
            // endregion
            assertThat(written).isEqualTo(VersionedUpsert.Result.APPLIED);
            // region transition
            StateTransition order = StateTransition.of("orders", "id", "state");
            StateTransition.Result moved = order.apply(connection, 7, "PAID", "SHIPPED");
            // endregion
            assertThat(moved).isEqualTo(StateTransition.Result.APPLIED);
        }
    }

    private Optional<List<Message>> fromTheSource(Gap gap) {
        return Optional.empty();
    }

    private static Message booked(long version, String amount) {
        return Message.builder()
                .id("m-" + version)
                .type("Booked")
                .orderingKey("alice")
                .header("version", Long.toString(version).getBytes(StandardCharsets.UTF_8))
                .payload(amount.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private void execute(String sql) throws Exception {
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute(sql);
        }
    }

    private int number(String sql) throws Exception {
        try (Connection connection = dataSource.getConnection();
                ResultSet rows = connection.createStatement().executeQuery(sql)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
