package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.BatchSql;
import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.KeptFingerprint;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The set-based statements on markers, ready for one dialect and one set of tables. Stateless. */
public final class BatchMarkers {
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
        int size = requests.size();
        UUID[] keys = new UUID[size];
        String[] readables = new String[size];
        boolean hashed = false;
        for (int i = 0; i < size; i++) {
            ClaimRequest request = requests.get(i);
            keys[i] = request.key().value();
            readables[i] = request.key().readable();
            hashed |= readables[i] != null;
        }
        Map<String, NamedSql.Parameter> common = keyed(consumer, keys);
        common.put("wait", NamedSql.Parameter.of(wait));
        common.put("claimid", NamedSql.Parameter.of(claimId));
        // What a shorter array lacks is NULL, and ids that are UUIDs need no readable text.
        common.put("readables", NamedSql.Parameter.array("text", hashed ? readables : new String[0]));
        common.put("fingerprints", NamedSql.Parameter.of(KeptFingerprint.array(requests)));
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
                    "fingerprint", (s, i) -> KeptFingerprint.bind(s, i, request.fingerprint())));
        }
        return rows;
    }

    Map<UUID, ClaimRow> read(Connection connection, int consumer, List<MarkerKey> keys) throws SQLException {
        try (PreparedStatement statement =
                read.prepare(connection, keyed(consumer, values(keys)), () -> rowsOf(keys))) {
            return rowsOf(statement);
        }
    }

    /** Deletes the markers of these keys that these claims wrote, and no others. */
    int remove(Connection connection, int consumer, Collection<MarkerKey> keys, Set<String> claimIds)
            throws SQLException {
        List<MarkerKey> list = List.copyOf(keys);
        Map<String, NamedSql.Parameter> common = keyed(consumer, values(list));
        common.put("claimids", NamedSql.Parameter.array("text", claimIds.toArray()));
        if (dialect.storesClaimId()) {
            common.put(
                    "claimid",
                    NamedSql.Parameter.of(Long.parseLong(claimIds.iterator().next())));
        }
        try (PreparedStatement statement = remove.prepare(connection, common, () -> rowsOf(list))) {
            return statement.executeUpdate();
        }
    }

    public void storeResults(Connection connection, int consumer, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        for (Map.Entry<MarkerKey, StoredResult> result : results.entrySet()) {
            markers.storeResult(connection, consumer, result.getKey(), result.getValue());
        }
    }

    private static UUID[] values(List<MarkerKey> keys) {
        UUID[] values = new UUID[keys.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = keys.get(i).value();
        }
        return values;
    }

    /** The keys as text: drivers make an array out of such objects with more effort. */
    private static Map<String, NamedSql.Parameter> keyed(int consumer, UUID[] keys) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("keys", (s, i) -> {
            StringBuilder text = new StringBuilder(keys.length * 37 + 2).append('{');
            for (UUID key : keys) {
                text.append(text.length() == 1 ? "" : ",").append(key);
            }
            s.setString(i, text.append('}').toString());
        });
        return values;
    }

    private List<Map<String, NamedSql.Parameter>> rowsOf(List<MarkerKey> keys) {
        return keys.stream()
                .map(key -> Map.of("key", dialect.key().apply(key.value())))
                .toList();
    }

    /** What the statement says of each key, by the shape of its results. */
    private Map<UUID, ClaimRow> rowsOf(PreparedStatement statement) throws SQLException {
        Map<UUID, ClaimRow> found = new HashMap<>();
        List<UUID> inserted = new ArrayList<>();
        String claimId = "";
        boolean rows = statement.execute();
        while (rows || statement.getUpdateCount() != -1) {
            if (rows) {
                try (ResultSet result = statement.getResultSet()) {
                    int columns = result.getMetaData().getColumnCount();
                    while (result.next()) {
                        if (columns == BatchSql.INSERTED_COLUMNS) {
                            claimId = inserted.isEmpty() ? result.getString(1) : claimId;
                            inserted.add(dialect.keyOf().read(result, columns));
                        } else if (columns == BatchSql.SUMMARY_COLUMNS && !inserted.isEmpty()) {
                            String[] summary = result.getString(1).split(" ", -1);
                            ClaimRow all = ClaimRow.granted(claimId, summary[0], Long.parseLong(summary[1]));
                            inserted.forEach(key -> found.put(key, all));
                        } else if (columns == BatchSql.KNOWN_COLUMNS) {
                            found.put(dialect.keyOf().read(result, columns), ClaimRow.known(result));
                        } else if (columns == ClaimRow.COLUMNS + 1) {
                            ClaimRow row = ClaimRow.of(result);
                            if (row.sameKey()) {
                                found.put(dialect.keyOf().read(result, columns), row);
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
