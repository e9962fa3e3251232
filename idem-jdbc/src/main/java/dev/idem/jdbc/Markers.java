package dev.idem.jdbc;

import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The statements on markers and results, ready for one dialect and one set of tables. Stateless. */
final class Markers {
    /**
     * How much of a SHA-256 is kept: a changed payload goes unnoticed once in 10^12 conflicts, and a PostgreSQL row stays
     * at 56 bytes.
     */
    static final int FINGERPRINT_BYTES = 5;

    private final Dialect dialect;
    private final NamedSql claim;
    private final NamedSql claimJoined;
    private final NamedSql read;
    private final NamedSql readAndEnd;
    private final NamedSql confirm;
    private final NamedSql confirmAndCommit;
    private final NamedSql storeResult;
    private final NamedSql readResult;
    private final Horizons horizons;

    Markers(Dialect dialect, Tables tables) {
        this.dialect = dialect;
        horizons = new Horizons(tables);
        claim = new NamedSql(tables.fill(dialect.claim()));
        claimJoined = new NamedSql(tables.fill(dialect.claimJoined()));
        read = new NamedSql(tables.fill(dialect.read()));
        readAndEnd = new NamedSql(tables.fill(dialect.readAndEnd()));
        confirm = new NamedSql(tables.fill(dialect.confirm()));
        confirmAndCommit = new NamedSql(tables.fill(dialect.confirmAndCommit()));
        storeResult = new NamedSql(tables.fill(dialect.storeResult()));
        readResult = new NamedSql(
                tables.fill("SELECT codec, bytes FROM ${result} WHERE consumer = :consumer AND message_key = :key"));
    }

    Horizons horizons() {
        return horizons;
    }

    /** Inserts the marker. Empty when the key is neither granted nor explained by a row that could be read. */
    Optional<ClaimRow> claim(Connection connection, int consumer, ClaimRequest request, boolean joined)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = keyed(consumer, request.key());
        byte[] fingerprint = request.fingerprint();
        values.put("readable", NamedSql.Parameter.of(request.key().readable()));
        values.put(
                "fingerprint",
                NamedSql.Parameter.of(fingerprint == null ? null : Arrays.copyOf(fingerprint, FINGERPRINT_BYTES)));
        values.put("wait", NamedSql.Parameter.of(dialect.waitUnits().applyAsLong(request.busyWait())));
        long claimId = ThreadLocalRandom.current().nextLong();
        values.put("claimid", NamedSql.Parameter.of(claimId));
        try (PreparedStatement statement = (joined ? claimJoined : claim).prepare(connection, values)) {
            Optional<ClaimRow> row = firstRow(statement);
            boolean last = !joined && !request.withResult();
            return row.isPresent() ? row : read(last ? readAndEnd : read, connection, consumer, request.key());
        } catch (SQLException failure) {
            if (dialect.takenCodes().contains(failure.getErrorCode())) {
                // A row of this very claim explains nothing: it is not committed, and its work is not done.
                return read(connection, consumer, request.key())
                        .filter(row -> !row.claimId().equals(Long.toString(claimId)));
            }
            throw failure;
        }
    }

    Optional<ClaimRow> read(Connection connection, int consumer, MarkerKey key) throws SQLException {
        return read(read, connection, consumer, key);
    }

    private Optional<ClaimRow> read(NamedSql sql, Connection connection, int consumer, MarkerKey key)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, keyed(consumer, key))) {
            return firstRow(statement);
        }
    }

    /** False, or an exception that {@link SqlFaults#isBroken} knows, when this transaction has lost its marker. */
    boolean confirm(Connection connection, int consumer, MarkerKey key, ClaimRow claimed) throws SQLException {
        try (PreparedStatement statement = confirm.prepare(connection, claimed(consumer, key, claimed))) {
            return statement.execute() && statement.getResultSet().next();
        }
    }

    /** Returns what the server warned of when it had committed. */
    @Nullable
    SQLWarning confirmAndCommit(Connection connection, int consumer, MarkerKey key, ClaimRow claimed)
            throws SQLException {
        try (PreparedStatement statement = confirmAndCommit.prepare(connection, claimed(consumer, key, claimed))) {
            statement.execute();
            return statement.getWarnings();
        }
    }

    void storeResult(Connection connection, int consumer, MarkerKey key, StoredResult result) throws SQLException {
        Map<String, NamedSql.Parameter> values = keyed(consumer, key);
        values.put("codec", NamedSql.Parameter.of(result.codec()));
        values.put("bytes", NamedSql.Parameter.of(result.bytes()));
        try (PreparedStatement statement = storeResult.prepare(connection, values)) {
            statement.executeUpdate();
        }
    }

    @Nullable
    StoredResult readResult(Connection connection, int consumer, MarkerKey key) throws SQLException {
        try (PreparedStatement statement = readResult.prepare(connection, keyed(consumer, key));
                ResultSet rows = statement.executeQuery()) {
            return rows.next() ? new StoredResult(rows.getString(1), rows.getBytes(2)) : null;
        }
    }

    /** Whether the transaction still takes statements. */
    boolean ping(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
            return statement.execute();
        }
    }

    private Map<String, NamedSql.Parameter> keyed(int consumer, MarkerKey key) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("key", dialect.key().apply(key.value()));
        return values;
    }

    private Map<String, NamedSql.Parameter> claimed(int consumer, MarkerKey key, ClaimRow claimed) {
        Map<String, NamedSql.Parameter> values = keyed(consumer, key);
        values.put(
                "claimid",
                dialect.storesClaimId()
                        ? NamedSql.Parameter.of(Long.parseLong(claimed.claimId()))
                        : NamedSql.Parameter.of(claimed.claimId()));
        values.put("token", NamedSql.Parameter.of(claimed.token()));
        return values;
    }

    private static Optional<ClaimRow> firstRow(PreparedStatement statement) throws SQLException {
        if (!statement.execute()) {
            return Optional.empty();
        }
        try (ResultSet rows = statement.getResultSet()) {
            return rows.next() ? Optional.of(ClaimRow.of(rows)).filter(ClaimRow::sameKey) : Optional.empty();
        }
    }
}
