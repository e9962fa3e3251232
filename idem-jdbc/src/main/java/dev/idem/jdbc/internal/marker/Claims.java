package dev.idem.jdbc.internal.marker;

import dev.idem.Position;
import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.HandlerConnections;
import dev.idem.jdbc.internal.guard.JoinedSavepoint;
import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.guard.RollbackOnly;
import dev.idem.jdbc.internal.guard.SqlText;
import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimAnomalyException;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.PositionRequest;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Claims keys, in transactions of its own or inside somebody else's. Stateless but for what it is made of. */
public final class Claims {
    private static final int TRIES = 3;
    private static final String JOINED = "claim, inside an outer transaction,";

    private final DataSource dataSource;
    private final Tables tables;
    private final Markers markers;
    private final SqlFaults faults;
    private final SqlText sqlText;
    private final HandlerConnections handlers;
    private final RollbackOnly rollbackOnly;
    private final Partitions partitions;
    private final BatchKit kit;
    private final BatchClaims batches;
    private final WatermarkClaims watermarkClaims;

    public Claims(
            DataSource dataSource,
            Tables tables,
            HandlerConnections handlers,
            StatementSize size,
            RollbackOnly rollbackOnly) {
        this.rollbackOnly = rollbackOnly;
        this.dataSource = dataSource;
        this.tables = tables;
        this.handlers = handlers;
        markers = new Markers(tables.dialect(), tables);
        faults = new SqlFaults(tables.dialect().faults());
        sqlText = new SqlText(tables.dialect().committing());
        partitions = new Partitions(tables);
        BatchMarkers together = new BatchMarkers(tables, markers);
        kit = new BatchKit(tables, markers, together, faults, sqlText, handlers, partitions, size);
        batches = new BatchClaims(kit, this::begin);
        watermarkClaims = new WatermarkClaims(kit, this::begin);
    }

    public BatchKit kit() {
        return kit;
    }

    public Horizons horizons() {
        return markers.horizons();
    }

    public SqlFaults faults() {
        return faults;
    }

    /** Claims many keys of one consumer in one transaction. */
    public Batch together(int consumer, List<ClaimRequest> requests) {
        return batches.claim(consumer, requests);
    }

    /** Claims positions of one consumer in one transaction. */
    public Batch positions(int consumer, List<PositionRequest> requests) {
        return watermarkClaims.claim(consumer, requests);
    }

    public OptionalLong markOf(int consumer, Position partition) {
        try (Connection connection = connect()) {
            return Transactions.alone(
                    connection, () -> watermarkClaims.watermarks().read(connection, consumer, partition));
        } catch (SQLException failure) {
            throw new StoreException("Could not read the mark of " + partition, failure);
        }
    }

    /** Claims as the first statement of a new transaction. */
    public Claim alone(int consumer, ClaimRequest request) {
        for (int i = 0; i < TRIES; i++) {
            Optional<Claim> claim = once(consumer, request);
            if (claim.isPresent()) {
                return claim.get();
            }
            // The row was there and cannot be seen: removed this moment, or newer than our snapshot. Look again.
        }
        throw anomaly(request, null);
    }

    private Optional<Claim> once(int consumer, ClaimRequest request) {
        OwnTransaction transaction = begin(request.key());
        boolean granted = false;
        try {
            Connection connection = transaction.connection();
            Optional<Claim> outside = partitions.outside(connection, request.key());
            if (outside.isPresent()) {
                return outside;
            }
            Optional<ClaimRow> row = markers.claim(connection, consumer, request, false);
            if (row.isEmpty()) {
                return Optional.empty();
            }
            if (!row.get().granted()) {
                return Optional.of(taken(connection, consumer, request, row.get()));
            }
            Guard guard = new Guard(connection, sqlText, handlers);
            granted = true;
            return Optional.of(
                    new Claim.Granted(new OwnUnit(transaction, marker(consumer, request, row.get()), kit, guard)));
        } catch (SQLException failure) {
            return Optional.of(busyOrThrow("claim", request, failure));
        } finally {
            if (!granted) {
                transaction.close();
            }
        }
    }

    /** Claims behind a savepoint, so that a lock timeout or a violation does not spoil the owner's transaction. */
    public Claim within(Connection outer, int consumer, ClaimRequest request) {
        try {
            JoinedSavepoint savepoint = JoinedSavepoint.set(outer);
            try {
                Claim claim = after(savepoint, outer, consumer, request);
                if (!(claim instanceof Claim.Granted)) {
                    savepoint.undo(outer); // also puts back the settings of a claim that was not granted
                }
                return claim;
            } catch (SQLException | RuntimeException | Error failure) {
                undo(savepoint, outer, failure);
                throw failure;
            }
        } catch (SQLException failure) {
            throw faults.explained(JOINED, request.key(), failure);
        }
    }

    /** The owner may go on, and commit: a marker without its effect must not be there then. */
    private void undo(JoinedSavepoint savepoint, Connection outer, Throwable failure) {
        try {
            savepoint.undo(outer);
        } catch (SQLException | RuntimeException secondary) {
            if (failure != secondary) {
                failure.addSuppressed(secondary);
            }
            rollbackOnly.mark(outer, true);
        }
    }

    private Claim after(JoinedSavepoint savepoint, Connection outer, int consumer, ClaimRequest request)
            throws SQLException {
        try {
            Optional<Claim> outside = partitions.outside(outer, request.key());
            if (outside.isPresent()) {
                return outside.get();
            }
            ClaimRow row = markers.claim(outer, consumer, request, true).orElseThrow(() -> anomaly(request, null));
            if (!row.granted()) {
                return taken(outer, consumer, request, row);
            }
            Guard guard = new Guard(outer, sqlText, handlers);
            return new Claim.Granted(
                    new JoinedUnit(outer, savepoint, marker(consumer, request, row), kit, guard, rollbackOnly));
        } catch (SQLException failure) {
            return busyOrThrow(JOINED, request, failure);
        }
    }

    private ClaimedMarker marker(int consumer, ClaimRequest request, ClaimRow row) {
        return new ClaimedMarker(markers, consumer, request.key(), row);
    }

    private Claim taken(Connection connection, int consumer, ClaimRequest request, ClaimRow row) throws SQLException {
        return new Claim.Taken(
                row.marker(request.withResult() ? markers.readResult(connection, consumer, request.key()) : null));
    }

    public OwnTransaction begin(Object forWhat) {
        Connection connection = connect();
        try {
            return OwnTransaction.begin(connection);
        } catch (SQLException failure) {
            throw faults.explained("begin a transaction for", forWhat, failure);
        } catch (RuntimeException unusable) { // some pools hand out what they are just throwing away
            throw new TransientStoreException("The pool gave an unusable connection for " + forWhat, unusable);
        }
    }

    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException failure) {
            throw new StoreException(
                    "No connection to the database of " + tables + " (SQLState " + failure.getSQLState()
                            + "): it is down, or the pool is exhausted",
                    failure);
        }
    }

    private Claim busyOrThrow(String what, ClaimRequest request, SQLException failure) {
        if (faults.isBusy(failure)) {
            return new Claim.Busy();
        }
        partitions.missed(failure, request.key()).ifPresent(gone -> {
            throw gone;
        });
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
}
