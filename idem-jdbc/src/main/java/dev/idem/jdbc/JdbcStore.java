package dev.idem.jdbc;

import dev.idem.StoreException;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimAnomalyException;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps markers in a relational database, in the same transaction as the handler's effects: exactly once for effects in
 * that database. Thread-safe. Needs a role that may only SELECT, INSERT, UPDATE and DELETE, keeps no session state, and
 * works behind PgBouncer in transaction mode.
 *
 * <pre>{@code
 * JdbcStore store = JdbcStore.create(dataSource);
 * }</pre>
 */
public final class JdbcStore implements MarkerStore.Joinable {
    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);
    private static final int CLAIM_TRIES = 3;
    private static final String CLAIM_JOINED = "claim, inside an outer transaction,";
    private static final String NO_NUMBER = "is the database there, and are the tables created?";

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Tables tables;
    private final Markers markers;
    private final SqlFaults faults;
    private final SqlText sqlText;
    private final ConsumerNumbers consumers;
    private final HandlerConnections handlers;
    private final AtomicLong savepoints = new AtomicLong();

    JdbcStore(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        dialect = tables.dialect();
        markers = new Markers(dialect, tables);
        faults = new SqlFaults(dialect.faults());
        sqlText = new SqlText(dialect.committing());
        consumers = new ConsumerNumbers(dataSource, dialect, tables);
        handlers = new HandlerConnections(dataSource);
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
     * the work of a handler on its own thread.
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
        return dialect.database().product() + " tables " + tables;
    }

    @Override
    public void register(String consumer) {
        number(consumer, NO_NUMBER);
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
        int consumer = number(request.key().consumer(), NO_NUMBER);
        for (int i = 0; i < CLAIM_TRIES; i++) {
            Optional<Claim> claim = claim(consumer, request);
            if (claim.isPresent()) {
                return claim.get();
            }
            // The row was there and cannot be seen: removed this moment, or newer than our snapshot. Look again.
        }
        throw anomaly(request, null);
    }

    private Optional<Claim> claim(int consumer, ClaimRequest request) {
        OwnTransaction transaction = begin(request.key());
        boolean granted = false;
        try {
            Connection connection = transaction.connection();
            Optional<ClaimRow> row = markers.claim(connection, consumer, request, false);
            if (row.isEmpty()) {
                return Optional.empty();
            }
            if (!row.get().granted()) {
                return Optional.of(taken(connection, consumer, request, row.get()));
            }
            Guard guard = new Guard(connection, sqlText);
            granted = true;
            return Optional.of(new Claim.Granted(new OwnUnit(
                    transaction, markers, faults, consumer, request.key(), row.get(), guard, handlers.bind(guard))));
        } catch (SQLException failure) {
            return Optional.of(busyOrThrow("claim", request, failure));
        } finally {
            if (!granted) {
                transaction.close();
            }
        }
    }

    private OwnTransaction begin(MarkerKey key) {
        Connection connection = connect();
        try {
            return OwnTransaction.begin(connection);
        } catch (SQLException failure) {
            throw faults.explained("begin a transaction for", key, failure);
        } catch (RuntimeException unusable) { // some pools hand out what they are just throwing away
            throw new TransientStoreException("The pool gave an unusable connection for " + key, unusable);
        }
    }

    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException failure) {
            throw new StoreException(
                    "No connection to " + describe() + " (SQLState " + failure.getSQLState()
                            + "): the database is down or the pool exhausted",
                    failure);
        }
    }

    private Claim taken(Connection connection, int consumer, ClaimRequest request, ClaimRow row) throws SQLException {
        return new Claim.Taken(
                row.marker(request.withResult() ? markers.readResult(connection, consumer, request.key()) : null));
    }

    private Claim busyOrThrow(String what, ClaimRequest request, SQLException failure) {
        if (faults.isBusy(failure)) {
            return new Claim.Busy();
        }
        if (SqlFaults.isViolation(failure)) { // not of the key, for that one is no error
            throw anomaly(request, failure);
        }
        throw faults.explained(what, request.key(), failure);
    }

    private ClaimAnomalyException anomaly(ClaimRequest request, @Nullable SQLException cause) {
        return new ClaimAnomalyException(
                "The marker of " + request.key()
                        + " was not inserted, and no marker of it can be read: a trigger, a row"
                        + " policy or another unique index on " + tables + " is in the way. Run 'idem schema validate'",
                cause);
    }

    /** Claims behind a savepoint, so that a lock timeout or a violation does not spoil the owner's transaction. */
    @Override
    public Claim claimWithin(Connection outer, ClaimRequest request) {
        try {
            if (outer.getAutoCommit()) {
                throw new IllegalArgumentException("The connection to join has autocommit on, so it has no transaction:"
                        + " call setAutoCommit(false), or inside a handler join tx.connection()");
            }
            int consumer = number(
                    request.key().consumer(),
                    "a new consumer needs a second connection beside the outer one; register it before,"
                            + " with inbox.register(consumer)");
            Savepoint savepoint = outer.setSavepoint("idem_" + savepoints.incrementAndGet());
            try {
                Claim claim = claimAfter(savepoint, outer, consumer, request);
                if (!(claim instanceof Claim.Granted)) {
                    outer.rollback(savepoint); // also puts back the settings of a claim that was not granted
                }
                return claim;
            } catch (StoreException failure) {
                Transactions.quietly(() -> outer.rollback(savepoint), failure);
                throw failure;
            }
        } catch (SQLException failure) {
            throw faults.explained(CLAIM_JOINED, request.key(), failure);
        }
    }

    private Claim claimAfter(Savepoint savepoint, Connection outer, int consumer, ClaimRequest request)
            throws SQLException {
        try {
            ClaimRow row = markers.claim(outer, consumer, request, true).orElseThrow(() -> anomaly(request, null));
            if (!row.granted()) {
                return taken(outer, consumer, request, row);
            }
            Guard guard = new Guard(outer, sqlText);
            return new Claim.Granted(new JoinedUnit(
                    outer, savepoint, markers, faults, consumer, request.key(), row, guard, handlers.bind(guard)));
        } catch (SQLException failure) {
            return busyOrThrow(CLAIM_JOINED, request, failure);
        }
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return faults.isTransient(failure);
    }

    /** Does nothing: the data source belongs to whoever made it. */
    @Override
    public void close() {}

    /** Collects what a store has. Not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private @Nullable Database database;
        private @Nullable String schema;
        private String prefix = JdbcSchema.DEFAULT_PREFIX;
        private SchemaMode mode = SchemaMode.EMBEDDED;
        private boolean strict;

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

        /** What to do about the tables at start; default {@link SchemaMode#EMBEDDED}. */
        public Builder schemaMode(SchemaMode value) {
            mode = value;
            return this;
        }

        /** Whether warnings of the start-up checks (fsync off, say) refuse the start as errors do; default no. */
        public Builder strict(boolean value) {
            strict = value;
            return this;
        }

        public JdbcStore build() {
            JdbcSchema tables = JdbcSchema.of(dataSource, database, schema, prefix);
            boolean embedded = tables.database().dialect().embedded();
            if (mode == SchemaMode.ALWAYS || (mode == SchemaMode.EMBEDDED && embedded)) {
                tables.apply();
            }
            if (mode != SchemaMode.NEVER) {
                refuse(tables.validate());
            }
            return new JdbcStore(dataSource, tables.tables());
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
            findings.forEach(finding -> log.warn("{}", finding));
        }
    }
}
