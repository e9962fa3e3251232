package dev.idem.jdbc;

import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The set-based statements on markers, ready for one dialect and one set of tables. Stateless. */
final class BatchMarkers {
    private final Dialect dialect;
    private final Markers markers;
    private final RowsSql claim;
    private final RowsSql claimMore;
    private final RowsSql read;
    private final RowsSql remove;

    BatchMarkers(Tables tables, Markers markers) {
        this.dialect = tables.dialect();
        this.markers = markers;
        BatchSql sql = dialect.batch();
        claim = new RowsSql(tables.fill(sql.claim()));
        claimMore = new RowsSql(tables.fill(sql.claimMore()));
        read = new RowsSql(tables.fill(sql.read()));
        remove = new RowsSql(tables.fill(sql.remove()));
    }

    /** Inserts the markers; answers what the database said of each key, which may be nothing. */
    Map<UUID, ClaimRow> claim(
            Connection connection, int consumer, List<ClaimRequest> requests, boolean first, long claimId, long wait)
            throws SQLException {
        Map<String, NamedSql.Parameter> common =
                keyed(consumer, requests.stream().map(ClaimRequest::key).toList());
        common.put("wait", NamedSql.Parameter.of(wait));
        common.put("claimid", NamedSql.Parameter.of(claimId));
        common.put(
                "readables",
                array("text", requests.stream().map(r -> r.key().readable()).toArray()));
        common.put(
                "fingerprints",
                array("bytea", requests.stream().map(BatchMarkers::fingerprint).toArray(byte[][]::new)));
        try (PreparedStatement statement =
                (first ? claim : claimMore).prepare(connection, common, () -> rows(requests))) {
            return rowsOf(statement);
        }
    }

    private List<Map<String, NamedSql.Parameter>> rows(List<ClaimRequest> requests) {
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>(requests.size());
        for (ClaimRequest request : requests) {
            rows.add(Map.of(
                    "key", dialect.key().apply(request.key().value()),
                    "readable", NamedSql.Parameter.of(request.key().readable()),
                    "fingerprint", NamedSql.Parameter.of(fingerprint(request))));
        }
        return rows;
    }

    private static byte @Nullable [] fingerprint(ClaimRequest request) {
        byte[] full = request.fingerprint();
        return full == null ? null : Arrays.copyOf(full, Markers.FINGERPRINT_BYTES);
    }

    Map<UUID, ClaimRow> read(Connection connection, int consumer, List<MarkerKey> keys) throws SQLException {
        try (PreparedStatement statement = read.prepare(connection, keyed(consumer, keys), () -> rowsOf(keys))) {
            return rowsOf(statement);
        }
    }

    /** Deletes the markers of these keys that these claims wrote, and no others. */
    int remove(Connection connection, int consumer, Collection<MarkerKey> keys, Set<String> claimIds)
            throws SQLException {
        List<MarkerKey> list = List.copyOf(keys);
        Map<String, NamedSql.Parameter> common = keyed(consumer, list);
        common.put("claimids", array("text", claimIds.toArray()));
        if (dialect.storesClaimId()) {
            common.put(
                    "claimid",
                    NamedSql.Parameter.of(Long.parseLong(claimIds.iterator().next())));
        }
        try (PreparedStatement statement = remove.prepare(connection, common, () -> rowsOf(list))) {
            return statement.executeUpdate();
        }
    }

    void storeResults(Connection connection, int consumer, Map<MarkerKey, StoredResult> results) throws SQLException {
        for (Map.Entry<MarkerKey, StoredResult> result : results.entrySet()) {
            markers.storeResult(connection, consumer, result.getKey(), result.getValue());
        }
    }

    private Map<String, NamedSql.Parameter> keyed(int consumer, List<MarkerKey> keys) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("keys", array("uuid", keys.stream().map(MarkerKey::value).toArray()));
        return values;
    }

    private List<Map<String, NamedSql.Parameter>> rowsOf(List<MarkerKey> keys) {
        return keys.stream()
                .map(key -> Map.of("key", dialect.key().apply(key.value())))
                .toList();
    }

    private static NamedSql.Parameter array(String type, Object[] values) {
        return (s, i) -> s.setArray(i, s.getConnection().createArrayOf(type, values));
    }

    /** Of all results of the statement, the one that has rows of the right shape. */
    private Map<UUID, ClaimRow> rowsOf(PreparedStatement statement) throws SQLException {
        Map<UUID, ClaimRow> found = new HashMap<>();
        boolean rows = statement.execute();
        while (rows || statement.getUpdateCount() != -1) {
            if (rows) {
                try (ResultSet result = statement.getResultSet()) {
                    if (result.getMetaData().getColumnCount() == ClaimRow.COLUMNS + 1) {
                        while (result.next()) {
                            ClaimRow row = ClaimRow.of(result);
                            if (row.sameKey()) {
                                found.put(dialect.keyOf().read(result, ClaimRow.COLUMNS + 1), row);
                            }
                        }
                    }
                }
            }
            rows = statement.getMoreResults();
        }
        return found;
    }
}
