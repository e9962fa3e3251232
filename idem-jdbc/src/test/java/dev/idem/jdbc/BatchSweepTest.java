package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.ResultCodec;
import dev.idem.Settlement;
import dev.idem.batch.BatchTransaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.LongLane;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import dev.idem.test.fault.NthCallSweep;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every fault at every JDBC call of a batch in which everything happens: a duplicate, a repeat, a handler of each kind, a
 * failure, a deferred failure, one that is held, a stored result. Nothing is acknowledged before its effect is there, and
 * after redelivery each effect is there once.
 */
@Tag("second-pass")
class BatchSweepTest {
    private static final String INSERT = "INSERT INTO payment (order_id) VALUES (?)";
    private static final int MOST_DELIVERIES = 40;

    private final List<Message> batch = Stream.of(
                    "each:duplicate",
                    "each:1",
                    "all:1",
                    "all:2",
                    "each:failing",
                    "each:behind",
                    "defer:1",
                    "defer:failing",
                    "each:1")
            .map(BatchSweepTest::message)
            .toList();

    private boolean failing;

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-02 PG-15 RO-14 no fault at any call of a batch loses or doubles an effect")
    void noFaultAtAnyCallLosesOrDoublesAnEffect(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(2)) {
            FaultyDataSource faulty = FaultyDataSource.around(pool);
            sweep(db, faulty, faulty, pool.getHikariPoolMXBean()::getActiveConnections);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LV-15 nor does one where the pool hands out the same connection again, and meets faults of its own")
    void noFaultWhereThePoolHandsOutTheSameAgain(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            FaultyDataSource faulty = FaultyDataSource.around(db.plain());
            try (ReusingPool pool = new ReusingPool(2, faulty)) {
                sweep(db, faulty, pool.dataSource(), pool::inUse);
                assertThat(pool.trespasses()).isEmpty();
            }
        }
    }

    private void sweep(Db db, FaultyDataSource faulty, DataSource source, IntSupplier inUse) throws Exception {
        Database database = db.kind();
        try (Connection side = db.plain().getConnection()) {
            db.store();
            JdbcStore store =
                    JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
            try (Inbox inbox = Inbox.create(store)) {
                Consumer consumer = consumer();
                inbox.register(consumer);
                int stride = database == Database.POSTGRESQL ? 1 : LongLane.stride(3);
                NthCallSweep.Summary summary = NthCallSweep.over(faulty)
                        .every(stride, LongLane.first(stride))
                        .reset(() -> {
                            empty(side);
                            failing = false;
                            inbox.accept(consumer, batch.get(0));
                            faulty.reset();
                            failing = true;
                        })
                        .deliver(() -> deliver(inbox, consumer, side))
                        .recover(() -> {
                            failing = false;
                            boolean settled = false;
                            for (int i = 0; i < MOST_DELIVERIES && !settled; i++) {
                                settled = deliver(inbox, consumer, side);
                            }
                            assertThat(settled).as("acknowledged in the end").isTrue();
                        })
                        .check(() -> check(inUse, side))
                        .faults(faults(database))
                        .sweep();
                System.out.printf(
                        "batch sweep %s: calls %d, cases %d, faults fired %d%n",
                        database, summary.calls(), summary.cases(), summary.faultsFired());
            }
        }
    }

    /** Those that leave the most behind; all in the long lane. */
    private static Fault[] faults(Database database) {
        if (LongLane.isOn()) {
            return Fault.values();
        }
        return database == Database.H2
                ? new Fault[] {Fault.ERROR, Fault.SILENT_ROLLBACK}
                : new Fault[] {Fault.EXCEPTION_AFTER, Fault.CONNECTION_LOST_AFTER, Fault.SILENT_ROLLBACK};
    }

    /** True when all are acknowledged; whatever is, must be true at once. */
    private boolean deliver(Inbox inbox, Consumer consumer, Connection side) throws SQLException {
        List<Outcome<?>> outcomes = inbox.acceptAll(consumer, batch);
        Map<String, Integer> effects = effects(side);
        boolean all = true;
        for (int i = 0; i < batch.size(); i++) {
            boolean acknowledged = outcomes.get(i).settlement() == Settlement.ACK;
            if (acknowledged) {
                assertThat(effects)
                        .as("%s is %s", batch.get(i), outcomes.get(i))
                        .containsEntry(batch.get(i).id().orElseThrow(), 1);
            }
            all &= acknowledged;
        }
        return all;
    }

    private void check(IntSupplier inUse, Connection side) throws SQLException {
        Map<String, Integer> once = new HashMap<>();
        batch.forEach(message -> once.put(message.id().orElseThrow(), 1));
        assertThat(effects(side)).as("effects").isEqualTo(once);
        assertThat(count(side, "idem_marker")).as("markers").isEqualTo(once.size());
        assertThat(count(side, "idem_result")).as("results").isEqualTo(4);
        assertThat(inUse.getAsInt()).as("connections in use").isZero();
    }

    private Consumer consumer() {
        return Consumer.named("swept")
                .on(
                        "each",
                        PayloadDecoder.message(),
                        (message, tx) -> pay(message, tx.connection()),
                        ResultCodec.text())
                .on("defer", PayloadDecoder.message(), (message, tx) -> {
                    tx.defer(INSERT, message.id().orElseThrow());
                    if (failing && isFailing(message)) {
                        tx.defer(INSERT, "x".repeat(200));
                    }
                    return null;
                })
                .onAll("all", PayloadDecoder.message(), this::payAll)
                .build();
    }

    private String pay(Message message, Connection connection) throws SQLException {
        Db.pay(connection, message.id().orElseThrow());
        if (failing && isFailing(message)) {
            throw new IllegalStateException("the handler fails");
        }
        return "receipt";
    }

    private void payAll(List<Message> messages, BatchTransaction tx) throws SQLException {
        for (Message message : messages) {
            Db.pay(tx.connection(), message.id().orElseThrow());
        }
    }

    private static boolean isFailing(Message message) {
        return message.id().orElseThrow().endsWith("failing");
    }

    private static Message message(String id) {
        Message.Builder message =
                Message.of(id, id.getBytes(StandardCharsets.UTF_8)).toBuilder().type(id.substring(0, id.indexOf(':')));
        return (id.equals("each:failing") || id.equals("each:behind") ? message.orderingKey("k") : message).build();
    }

    private static Map<String, Integer> effects(Connection side) throws SQLException {
        Map<String, Integer> effects = new HashMap<>();
        try (Statement statement = side.createStatement();
                ResultSet rows = statement.executeQuery("SELECT order_id FROM payment")) {
            while (rows.next()) {
                effects.merge(rows.getString(1), 1, Integer::sum);
            }
        }
        return effects;
    }

    private static long count(Connection side, String table) throws SQLException {
        try (Statement statement = side.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static void empty(Connection side) throws SQLException {
        side.setAutoCommit(false); // one commit for all of them
        try (Statement statement = side.createStatement()) {
            for (String table : List.of("payment", "idem_marker", "idem_result")) {
                statement.execute("DELETE FROM " + table);
            }
            side.commit();
        } finally {
            side.setAutoCommit(true);
        }
    }
}
