package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.KeptFingerprint;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The statements on markers and results, ready for one dialect and one set of tables. Stateless. */
public final class Markers {
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
    private final StreamRows streams;

    Markers(Dialect dialect, Tables tables) {
        this.dialect = dialect;
        horizons = new Horizons(tables);
        streams = new StreamRows(tables);
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

    public Horizons horizons() {
        return horizons;
    }

    public StreamRows streams() {
        return streams;
    }

    /** Inserts the marker. Empty when the key is neither granted nor explained by a row that could be read. */
    Optional<ClaimRow> claim(Connection connection, int consumer, ClaimRequest request, boolean joined)
            throws SQLException {
        long claimId = ThreadLocalRandom.current().nextLong();
        try (PreparedStatement statement =
                (joined ? claimJoined : claim).prepare(connection, claiming(consumer, request, claimId))) {
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

    private NamedSql.Values claiming(int consumer, ClaimRequest request, long claimId) {
        NamedSql.Values key = keyed(consumer, request.key());
        return (name, statement, i) -> {
            switch (name) {
                case "readable" -> statement.setString(i, request.key().readable());
                case "fingerprint" -> KeptFingerprint.bind(statement, i, request.fingerprint());
                case "wait" -> statement.setLong(i, dialect.waitUnits().applyAsLong(request.busyWait()));
                case "claimid" -> statement.setLong(i, claimId);
                default -> key.bind(name, statement, i);
            }
        };
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
        NamedSql.Values known = keyed(consumer, key);
        NamedSql.Values values = (name, statement, i) -> {
            switch (name) {
                case "codec" -> statement.setString(i, result.codec());
                case "bytes" -> statement.setBytes(i, result.bytes());
                default -> known.bind(name, statement, i);
            }
        };
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

    private NamedSql.Values keyed(int consumer, MarkerKey key) {
        return (name, statement, i) -> {
            switch (name) {
                case "consumer" -> statement.setInt(i, consumer);
                case "key" -> dialect.key().apply(key.value()).bind(statement, i);
                default -> throw NamedSql.missing(name);
            }
        };
    }

    private NamedSql.Values claimed(int consumer, MarkerKey key, ClaimRow claimed) {
        NamedSql.Values known = keyed(consumer, key);
        return (name, statement, i) -> {
            switch (name) {
                case "claimid" -> statement.setLong(i, Long.parseLong(claimed.claimId()));
                case "token" -> statement.setString(i, claimed.token());
                default -> known.bind(name, statement, i);
            }
        };
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
