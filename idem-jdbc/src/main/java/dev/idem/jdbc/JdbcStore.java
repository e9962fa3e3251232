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

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Tables tables;
    private final Markers markers;
    private final SqlFaults faults;
    private final SqlText sqlText;
    private final ConsumerNumbers consumers;
    private final HandlerConnections handlers;
    private final AtomicLong savepoints = new AtomicLong();

    private JdbcStore(DataSource dataSource, Tables tables) {
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
     * A data source for libraries that are configured once: on a handler's thread it hands out the connection of the
     * running transaction (closing it does nothing), elsewhere an ordinary one.
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
        number(consumer);
    }

    private int number(String consumer) {
        try {
            return consumers.of(consumer);
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not register consumer " + consumer + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    @Override
    public Claim claim(ClaimRequest request) {
        int consumer = number(request.key().consumer());
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
            handlers.bind(guard);
            granted = true;
            return Optional.of(new Claim.Granted(new OwnUnit(
                    transaction, markers, faults, consumer, request.key(), row.get(), guard, handlers::unbind)));
        } catch (SQLException failure) {
            return Optional.of(busyOrThrow(request, failure));
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

    private Claim busyOrThrow(ClaimRequest request, SQLException failure) {
        if (faults.isBusy(failure)) {
            return new Claim.Busy();
        }
        if (SqlFaults.isViolation(failure)) { // not of the key, for that one is no error
            throw anomaly(request, failure);
        }
        throw faults.explained("claim", request.key(), failure);
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
        int consumer = number(request.key().consumer());
        try {
            if (outer.getAutoCommit()) {
                throw new IllegalArgumentException(
                        "The connection to join has autocommit on, so it has no transaction");
            }
            Savepoint savepoint = outer.setSavepoint("idem_" + savepoints.incrementAndGet());
            try {
                Optional<ClaimRow> row = markers.claim(outer, consumer, request, true);
                ClaimRow claimed = row.orElseThrow(() -> anomaly(request, null));
                return claimed.granted()
                        ? new Claim.Granted(new JoinedUnit(
                                outer,
                                savepoint,
                                markers,
                                faults,
                                consumer,
                                request.key(),
                                claimed,
                                new Guard(outer, sqlText)))
                        : undone(outer, savepoint, taken(outer, consumer, request, claimed));
            } catch (SQLException failure) {
                outer.rollback(savepoint);
                return busyOrThrow(request, failure);
            }
        } catch (SQLException failure) {
            throw faults.explained("claim, inside an outer transaction,", request.key(), failure);
        }
    }

    /** Takes back what the claim set for itself, as the wait for a twin: the owner's transaction goes on as it was. */
    private static Claim undone(Connection outer, Savepoint savepoint, Claim taken) throws SQLException {
        outer.rollback(savepoint);
        return taken;
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
