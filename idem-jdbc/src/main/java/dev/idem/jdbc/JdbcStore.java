package dev.idem.jdbc;

import dev.idem.Position;
import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.Condemnable;
import dev.idem.jdbc.internal.guard.HandlerConnections;
import dev.idem.jdbc.internal.guard.OwnConnections;
import dev.idem.jdbc.internal.guard.RollbackOnly;
import dev.idem.jdbc.internal.guard.SessionId;
import dev.idem.jdbc.internal.marker.Claims;
import dev.idem.jdbc.internal.marker.ConsumerNumbers;
import dev.idem.jdbc.internal.queue.JdbcQueue;
import dev.idem.jdbc.internal.queue.JdbcSequences;
import dev.idem.jdbc.internal.queue.QueueKit;
import dev.idem.jdbc.internal.replay.ReplayRows;
import dev.idem.jdbc.internal.retention.PartitionKeeper;
import dev.idem.jdbc.internal.retention.RestoreDetector;
import dev.idem.jdbc.internal.retention.Sweeper;
import dev.idem.jdbc.internal.retention.Windows;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.OuterTransactions;
import dev.idem.spi.PositionRequest;
import dev.idem.spi.QueueStore;
import dev.idem.spi.ReplayStore;
import dev.idem.spi.Retention;
import dev.idem.spi.SequenceStore;
import dev.idem.spi.StoreWitness;
import dev.idem.spi.TestDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Keeps markers in a relational database, in the same transaction as the handler's effects: exactly once for effects in
 * that database. Thread-safe. A role that may SELECT, INSERT, UPDATE and DELETE is more than enough; nothing depends on session state, so
 * it works behind PgBouncer in transaction mode.
 *
 * <pre>{@code
 * JdbcStore store = JdbcStore.create(dataSource);
 * }</pre>
 */
public final class JdbcStore
        implements MarkerStore.Joinable,
                MarkerStore.Queueing,
                MarkerStore.Positioned,
                MarkerStore.Sequenced,
                MarkerStore.Replaying,
                MarkerStore.Witnessed,
                MarkerStore.Secretive,
                MarkerStore.Pingable {
    private static final Logger log = StoreLog.LOG;
    private static final String REGISTER_ADVICE = "is the database there, and are the tables created?";

    private static final String RETAIN_ADVICE = REGISTER_ADVICE + " Inside an outer transaction a new consumer needs a"
            + " second connection: register it before, with inbox.register(consumer)";

    private final StatementSize size;
    private final Tables tables;
    private final ConsumerNumbers consumers;
    private final HandlerConnections handlers;
    private final OuterTransactions frameworks;
    private final RollbackOnly rollbackOnly;
    private final Claims claims;
    private final Windows windows;
    private final Sweeper sweeper;
    private final JdbcQueue queue;
    private final JdbcSequences sequences;
    private final ReplayRows replays;
    private final RestoreDetector witness;
    private final MetaRow meta;

    JdbcStore(
            DataSource given,
            Tables tables,
            StatementSize size,
            Duration sweepEvery,
            WakeUp wakeUp,
            OuterTransactions frameworks) {
        this.tables = tables;
        this.size = size;
        this.frameworks = frameworks;
        rollbackOnly = new RollbackOnly(frameworks);
        OwnConnections connections = new OwnConnections(given, tables.dialect().database());
        DataSource dataSource = connections.dataSource();
        consumers = new ConsumerNumbers(dataSource, tables.dialect(), tables);
        handlers = new HandlerConnections(given, SessionId.of(tables.dialect().database()));
        claims = new Claims(dataSource, tables, handlers, size, rollbackOnly);
        windows = new Windows(dataSource, tables, claims.horizons());
        JdbcSchema schema = new JdbcSchema(dataSource, tables);
        sweeper = new Sweeper(dataSource, tables, consumers, windows, sweepEvery, schema::validate);
        queue = new JdbcQueue(
                given,
                dataSource,
                connections.waits(),
                QueueKit.of(claims.kit()),
                claims::begin,
                consumer -> number(consumer, REGISTER_ADVICE),
                wakeUp);
        sequences = new JdbcSequences(dataSource, tables);
        replays = new ReplayRows(dataSource, tables);
        witness = new RestoreDetector(dataSource, tables, RestoreDetector.EVERY);
        meta = new MetaRow(dataSource, tables);
    }

    /** Finds out which database it is; creates the tables if it is embedded, else checks them. */
    public static JdbcStore create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /**
     * A data source for libraries that are configured once, at start: on a handler's thread its connections are those of
     * {@link dev.idem.Transaction#dataSource}, part of the running transaction; on any other thread, ordinary ones. So do
     * the work of a handler on its own thread. While a thread has a transaction open on an ordinary one, the inbox refuses
     * to process messages on that thread beside it.
     */
    public DataSource dataSource() {
        return handlers;
    }

    @Override
    public Guarantee guarantee() {
        return Guarantee.EXACTLY_ONCE;
    }

    @Override
    public String describe() {
        String form = tables.partitioned() ? ", markers in daily partitions" : "";
        return tables.dialect().database().product() + " tables " + tables + form;
    }

    @Override
    public void register(String consumer) {
        number(consumer, REGISTER_ADVICE);
    }

    @Override
    public void admit(String consumer, boolean timeOrdered) {
        if (tables.partitioned() && !timeOrdered) {
            throw new StoreException(
                    "Consumer " + consumer + " cannot use the markers of " + tables
                            + ": they are in partitions by the time"
                            + " in their keys, and nothing says that this consumer's keys have one. Where its ids are UUIDv7"
                            + " or ULID, say .key(KeySelector.messageId().timeOrdered()); where the event time belongs to"
                            + " the identity, say .key(….withEventTime()); else give it tables of its own, by another prefix",
                    null);
        }
    }

    @Override
    public void retain(String consumer, Retention retention) {
        int number = number(consumer, RETAIN_ADVICE);
        try {
            windows.declare(consumer, number, retention);
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not declare the window of consumer " + consumer + " (SQLState " + failure.getSQLState()
                            + "): " + SqlFaults.advice(failure, RETAIN_ADVICE),
                    failure);
        }
        sweeper.start();
    }

    private int number(String consumer, String advice) {
        try {
            return consumers.of(consumer);
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not register consumer " + consumer + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure, advice),
                    failure);
        }
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return claims.alone(number(request.key().consumer(), REGISTER_ADVICE), request);
    }

    @Override
    public Batch claimAll(List<ClaimRequest> requests) {
        return claims.together(number(requests.get(0).key().consumer(), REGISTER_ADVICE), requests);
    }

    @Override
    public Batch claimPositions(List<PositionRequest> requests) {
        return claims.positions(number(requests.get(0).key().consumer(), REGISTER_ADVICE), requests);
    }

    @Override
    public OptionalLong markOf(String consumer, Position partition) {
        return claims.markOf(number(consumer, REGISTER_ADVICE), partition);
    }

    @Override
    public QueueStore queue() {
        return queue;
    }

    @Override
    public SequenceStore sequences() {
        return sequences;
    }

    @Override
    public ReplayStore replays() {
        return replays;
    }

    @Override
    public StoreWitness witness() {
        return witness;
    }

    @Override
    public byte[] secret() {
        return meta.secret();
    }

    @Override
    public void ping() {
        meta.ping();
    }

    @Override
    public Claim claimWithin(Connection outer, ClaimRequest request) {
        if (!inTransaction(outer)) {
            throw new IllegalArgumentException("The connection to join has autocommit on, so it has no transaction:"
                    + " call setAutoCommit(false), or inside a handler join tx.connection()");
        }
        int consumer = number(
                request.key().consumer(),
                "a new consumer needs a second connection beside the outer one; register it before,"
                        + " with inbox.register(consumer)");
        return claims.within(outer, consumer, request);
    }

    @Override
    public void rollbackOnly(Connection outer) {
        rollbackOnly.mark(outer, true);
    }

    @Override
    public Optional<String> openHere() {
        return handlers.isTransactionOpenHere()
                ? Optional.of("a transaction of store.dataSource()")
                : frameworks.openHere();
    }

    @Override
    public Optional<String> openBeside(Connection outer) {
        Optional<String> open = handlers.openBeside(outer);
        // In a handler the framework's transaction is the handler's own, or one begun inside of it.
        return open.isPresent() || handlers.isHandlerHere() || isOfAFramework(outer) ? open : frameworks.openHere();
    }

    @Override
    public boolean isSame(Connection one, Connection other) {
        return handlers.isSame(one, other);
    }

    /** A framework may know any of the connections that lead to the transaction. */
    private boolean isOfAFramework(Connection outer) {
        Connection behind = outer;
        for (Condemnable ours = Condemnable.of(behind); ours != null; ours = Condemnable.of(behind)) {
            if (frameworks.isOpenOn(behind)) {
                return true;
            }
            behind = ours.below();
        }
        return frameworks.isOpenOn(behind);
    }

    private boolean inTransaction(Connection outer) {
        try {
            return !outer.getAutoCommit();
        } catch (SQLException failure) {
            throw new StoreException("The connection to join cannot be used any more", failure);
        }
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return claims.faults().isTransient(failure);
    }

    @Override
    public boolean isConnectionLost(Throwable failure) {
        return claims.faults().isConnectionLost(failure);
    }

    @Override
    public boolean isOutOfResources(Throwable failure) {
        return claims.faults().isOutOfResources(failure);
    }

    @Override
    public int largestResult() {
        return size.largestValue();
    }

    /** Stops sweeping and listening. The data source belongs to whoever made it. */
    @Override
    public void close() {
        sweeper.close();
        witness.close();
        queue.close();
    }

    /** Collects what a store has. Not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private @Nullable Database database;
        private @Nullable String schema;
        private String prefix = JdbcSchema.DEFAULT_PREFIX;
        private SchemaMode mode = SchemaMode.CREATE_IF_EMBEDDED;
        private boolean strict;
        private Duration sweepEvery = Duration.ofHours(1);
        private WakeUp wakeUp = WakeUp.NOTIFY;
        private OuterTransactions frameworks = OuterTransactions.NONE;

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        /** Which database it is; default: what the driver says. */
        public Builder database(Database value) {
            database = value;
            return this;
        }

        /** Where the tables are; default: the schema the connections are in. */
        public Builder schema(String value) {
            schema = value;
            return this;
        }

        /** What the names of the tables begin with; default {@value JdbcSchema#DEFAULT_PREFIX}. */
        public Builder prefix(String value) {
            prefix = value;
            return this;
        }

        /** What to do about the tables at start; default {@link SchemaMode#CREATE_IF_EMBEDDED}. */
        public Builder schemaMode(SchemaMode value) {
            mode = value;
            return this;
        }

        /** Whether warnings of the start-up checks (fsync off, say) refuse the start as errors do; default no. */
        public Builder strict(boolean value) {
            strict = value;
            return this;
        }

        /**
         * How often markers and results that are older than their windows are removed, by one of the instances that share
         * the tables; default hourly. Zero means not by this instance: then run {@code JdbcRetention}, or {@code idem
         * retention run}, at least daily.
         */
        public Builder sweepEvery(Duration value) {
            if (value.isNegative() || value.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("sweepEvery is " + value + ", but must be between 0 and PT24H");
            }
            sweepEvery = value;
            return this;
        }

        /** How workers hear of what other instances store; default {@link WakeUp#NOTIFY}. Say POLL behind PgBouncer. */
        public Builder wakeUp(WakeUp value) {
            wakeUp = Objects.requireNonNull(value, "wakeUp");
            return this;
        }

        /**
         * What a framework knows of the transactions it keeps for its users; default nothing. Those of
         * {@link JdbcStore#dataSource} are known without it.
         */
        public Builder outerTransactions(OuterTransactions value) {
            frameworks = Objects.requireNonNull(value, "outerTransactions");
            return this;
        }

        /**
         * Looks at the database, as {@link #schemaMode} says.
         *
         * @throws IllegalArgumentException if connections of the source belong to whatever transaction is open on the
         *     calling thread, as those of Spring's {@code TransactionAwareDataSourceProxy}: give the store the pool itself
         * @throws StoreException when the database cannot be reached, or does not allow the store to keep its promise
         */
        public JdbcStore build() {
            OwnConnections.check(dataSource);
            JdbcSchema tables = JdbcSchema.of(dataSource, database, schema, prefix);
            boolean ours = tables.tables().dialect().embedded() || isOfATest();
            if (mode == SchemaMode.CREATE || (mode == SchemaMode.CREATE_IF_EMBEDDED && ours)) {
                tables.apply();
            }
            if (mode != SchemaMode.NOTHING) {
                createPartitions(tables);
                refuse(tables.validate());
            }
            return new JdbcStore(
                    dataSource,
                    tables.tables(),
                    StatementSize.of(dataSource, tables.database()),
                    sweepEvery,
                    wakeUp,
                    frameworks);
        }

        /** Before they are checked, so that the check does not refuse a start after a long downtime, or with an old script. */
        private void createPartitions(JdbcSchema schema) {
            if (!schema.partitioned() || sweepEvery.isZero()) {
                return;
            }
            PartitionKeeper keeper = new PartitionKeeper(dataSource, schema.tables());
            try {
                if (keeper.isPermitted()) {
                    keeper.createAhead(false);
                }
            } catch (SQLException failure) {
                log.warn(
                        "{}: partitions could not be created; tried again by the next sweep", schema.tables(), failure);
            }
        }

        private void refuse(List<Finding> findings) {
            List<Finding> fatal = findings.stream()
                    .filter(f -> strict || f.severity() == Finding.Severity.ERROR)
                    .toList();
            if (!fatal.isEmpty()) {
                throw new StoreException(
                        "The store cannot keep its promise here:\n"
                                + fatal.stream().map(f -> "  " + f).collect(Collectors.joining("\n")),
                        null);
            }
            findings.forEach(isOfATest() ? finding -> log.debug("{}", finding) : finding -> log.warn("{}", finding));
        }

        private boolean isOfATest() {
            return dataSource instanceof TestDataSource;
        }
    }
}
