package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.ResultCodec;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import dev.idem.spi.FaultPoint;
import dev.idem.test.fault.FaultyDataSource;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One message, one database, a pool of two connections with faults in front of it, and every way a delivery can go. The
 * state is reset and counted on a connection of its own, which has no faults.
 */
public final class SweepBench implements AutoCloseable {
    static final String ORDER = "order-1";
    private static final int MOST_DELIVERIES = 40;
    private static final Consumer CONSUMER = Consumer.of("payments");

    /** The ways through the inbox. */
    public enum Way {
        FRESH,
        DUPLICATE,
        STORED_RESULT,
        FAILING_HANDLER,
        FIRST_USE,
        JOINED
    }

    private final Way way;
    private final Db db;
    private final @Nullable HikariDataSource pool;
    private final @Nullable ReusingPool reusing;
    private final FaultyDataSource faulty;
    private final Connection side;
    private final Message message = Message.of(ORDER, "pay".getBytes(StandardCharsets.UTF_8));
    private Inbox inbox;
    private int runs;
    private int repeats;
    private boolean failing;

    public SweepBench(Database database, Way way) throws SQLException {
        this(database, way, false);
    }

    /** With a pool that hands out the same connection again, and meets the faults itself. */
    public static SweepBench reusing(Database database, Way way) throws SQLException {
        return new SweepBench(database, way, true);
    }

    private SweepBench(Database database, Way way, boolean reuses) throws SQLException {
        this.way = way;
        db = Db.fresh(database);
        pool = reuses ? null : db.pool(2);
        faulty = FaultyDataSource.around(pool == null ? db.plain() : pool);
        reusing = reuses ? new ReusingPool(2, faulty) : null;
        side = db.plain().getConnection();
        db.store();
        inbox = open();
    }

    private Inbox open() {
        JdbcStore store =
                JdbcStore.builder(source()).schemaMode(SchemaMode.NOTHING).build();
        return Inbox.builder(store)
                .steps((step, key) -> repeats += step == FaultPoint.BEFORE_RETRY ? 1 : 0)
                .build();
    }

    private DataSource source() {
        return reusing == null ? faulty : reusing.dataSource();
    }

    public FaultyDataSource faulty() {
        return faulty;
    }

    public int runs() {
        return runs;
    }

    public int repeats() {
        return repeats;
    }

    public void reset() throws Exception {
        execute(
                "DELETE FROM payment",
                "DELETE FROM idem_marker",
                "UPDATE idem_retention SET sample_key = NULL",
                "DELETE FROM idem_result");
        runs = 0;
        repeats = 0;
        failing = false;
        switch (way) {
            case FIRST_USE -> {
                execute("DELETE FROM idem_consumer");
                inbox.close();
                inbox = open(); // an inbox that has never heard of the consumer
            }
            case DUPLICATE -> assertThat(once().settlement()).isEqualTo(Settlement.ACK);
            default -> inbox.register(CONSUMER);
        }
        failing = way == Way.FAILING_HANDLER;
    }

    /** One delivery as a broker sees it: true is an acknowledgement. */
    public boolean deliver() throws Exception {
        try {
            return (way == Way.JOINED ? joined() : once()).settlement() == Settlement.ACK;
        } catch (HandlerFailure expected) {
            return false;
        }
    }

    /** Delivers again until acknowledged, with a handler that has recovered as well. */
    public void redeliver() throws Exception {
        failing = false;
        for (int i = 0; i < MOST_DELIVERIES; i++) {
            if (deliver()) {
                return;
            }
        }
        throw new AssertionError("not acknowledged after " + MOST_DELIVERIES + " deliveries");
    }

    /** Exactly one effect and one marker, and no connection left behind. */
    public void check() throws Exception {
        assertThat(count("payment")).as("effects").isEqualTo(1);
        assertThat(count("idem_marker")).as("markers").isEqualTo(1);
        assertThat(inUse()).as("connections in use after the delivery").isZero();
        assertThat(reusing == null ? List.of() : reusing.trespasses()).isEmpty();
        if (way == Way.STORED_RESULT) {
            assertThat(count("idem_result")).as("results").isEqualTo(1);
        }
    }

    private int inUse() {
        return pool != null ? pool.getHikariPoolMXBean().getActiveConnections() : reusing == null ? 0 : reusing.inUse();
    }

    public Outcome<String> once() throws Exception {
        return way == Way.STORED_RESULT
                ? inbox.process(CONSUMER, message, ResultCodec.text(), this::pay)
                : inbox.process(CONSUMER, message, this::pay);
    }

    /** H2 cannot end a connection, so that of an owner is closed for a failure, and must not be another's then. */
    private DataSource ownersSource() {
        boolean another = reusing != null && db.kind() == Database.H2;
        return another ? ((JdbcStore) inbox.store()).dataSource() : source();
    }

    private Outcome<String> joined() throws SQLException {
        try (Connection outer = ownersSource().getConnection()) {
            outer.setAutoCommit(false);
            try {
                Provisional<String> provisional = inbox.within(outer).process(CONSUMER, message, this::pay);
                provisional.confirm();
                outer.commit();
                return provisional.outcome();
            } catch (Throwable failure) {
                try {
                    outer.rollback();
                } catch (SQLException secondary) {
                    failure.addSuppressed(secondary);
                }
                throw failure;
            } finally {
                if (!outer.isClosed()) {
                    outer.setAutoCommit(true);
                }
            }
        }
    }

    private String pay(Transaction tx) throws SQLException {
        runs++;
        Db.pay(tx.connection(), ORDER);
        if (failing) {
            throw new HandlerFailure();
        }
        return "receipt";
    }

    public Optional<String> storedResult() throws Exception {
        return ((Outcome.Duplicate<String>) once()).storedResult();
    }

    long count(String table) throws SQLException {
        try (Statement statement = side.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private void execute(String... texts) throws SQLException {
        side.setAutoCommit(false); // one commit for all of them: a sweep resets thousands of times
        try (Statement statement = side.createStatement()) {
            for (String text : texts) {
                statement.execute(text);
            }
            side.commit();
        } finally {
            side.setAutoCommit(true);
        }
    }

    @Override
    public void close() throws SQLException {
        inbox.close();
        if (reusing != null) {
            reusing.close();
        }
        side.close();
        db.close();
    }

    static final class HandlerFailure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        HandlerFailure() {
            super("the handler fails");
        }
    }
}
