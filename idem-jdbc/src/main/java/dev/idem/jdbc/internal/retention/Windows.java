package dev.idem.jdbc.internal.retention;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.marker.CanaryMarkers;
import dev.idem.jdbc.internal.marker.Horizons;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.spi.Retention;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import javax.sql.DataSource;
import org.slf4j.Logger;

/**
 * Declares the windows of this process's consumers in the database, where all instances and the command line find them,
 * and declares them again from time to time. Of different windows the longest holds; a shorter one replaces it only when
 * nobody has declared the longer one for a day, so that neither a rolling deployment nor an old instance loses history.
 * Thread-safe.
 */
public final class Windows {
    private static final Logger log = StoreLog.LOG;
    private static final long HOLDS_FOR = Micros.of(Duration.ofDays(1));
    private static final int TRIES = 5;

    private final DataSource dataSource;
    private final Horizons horizons;
    private final CanaryMarkers samples;
    private final NamedSql insert;
    private final NamedSql read;
    private final NamedSql update;
    private final ConcurrentMap<String, Wish> wishes = new ConcurrentHashMap<>();
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    public Windows(DataSource dataSource, Tables tables, Horizons horizons) {
        this.dataSource = dataSource;
        this.horizons = horizons;
        samples = new CanaryMarkers(tables);
        RetentionSql sql = RetentionSql.of(tables.dialect().database());
        insert = new NamedSql(tables.fill(sql.insertRow()));
        read = new NamedSql(
                tables.fill("SELECT keep_for, declared_at, keep_results_for, results_declared_at, cutoff, horizon, "
                        + sql.now() + ", swept_at FROM ${retention} WHERE consumer = :consumer FOR UPDATE"));
        update = new NamedSql(tables.fill("UPDATE ${retention} SET keep_for = :keep, declared_at = :declared,"
                + " keep_results_for = :results, results_declared_at = :resultsdeclared, seen_at = :now,"
                + " swept_at = :swept WHERE consumer = :consumer"));
    }

    /** What this process wants for a consumer. */
    private record Wish(int number, long window, long results) {
        private Wish and(Wish other) {
            return new Wish(number, Math.max(window, other.window), Math.max(results, other.results));
        }
    }

    public void declare(String consumer, int number, Retention retention) throws SQLException {
        Wish wanted = new Wish(number, Micros.of(retention.window()), Micros.of(retention.resultWindow()));
        Wish before = wishes.get(consumer);
        Wish wish = before == null ? wanted : before.and(wanted);
        if (!wish.equals(before)) {
            declare(consumer, wish);
            wishes.merge(consumer, wish, Wish::and);
        }
    }

    boolean isEmpty() {
        return wishes.isEmpty();
    }

    /** For all, also behind one that fails: the window of another must not be forgotten because of it. */
    public void declareAgain() throws SQLException {
        StoreException missing = null;
        for (Map.Entry<String, Wish> entry : wishes.entrySet()) {
            try {
                declare(entry.getKey(), entry.getValue());
            } catch (StoreException refused) {
                missing = missing == null ? refused : missing;
            }
        }
        if (missing != null) {
            throw missing;
        }
    }

    /** Two that declare at once may undo each other. */
    private void declare(String consumer, Wish wish) throws SQLException {
        for (int i = 1; ; i++) {
            try (Connection connection = dataSource.getConnection()) {
                Row row = Transactions.alone(connection, () -> declare(connection, consumer, wish));
                horizons.learned(
                        wish.number, new Horizons.Known(wish.window, Math.max(row.cutoff, row.horizon), row.now));
                warn(consumer, wish, row.window);
                return;
            } catch (SQLException failure) {
                String state = failure.getSQLState();
                boolean undone = state != null && (state.startsWith("40") || state.startsWith("23"));
                if (!undone || i == TRIES) {
                    throw failure;
                }
            }
        }
    }

    private Row declare(Connection connection, String consumer, Wish wish) throws SQLException {
        samples.isolate(connection);
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(wish.number));
        values.put("keep", Micros.parameter(wish.window));
        values.put("results", Micros.parameter(wish.results));
        try (PreparedStatement statement = insert.prepare(connection, values)) {
            statement.executeUpdate();
        }
        Row row = read(connection, values);
        Declared window = new Declared(row.window, row.declaredAt).and(wish.window, row.now);
        Declared results = new Declared(row.results, row.resultsDeclaredAt).and(wish.results, row.now);
        values.put("keep", Micros.parameter(window.length));
        values.put("declared", NamedSql.Parameter.of(window.at));
        values.put("results", Micros.parameter(results.length));
        values.put("resultsdeclared", NamedSql.Parameter.of(results.at));
        values.put("now", NamedSql.Parameter.of(row.now));
        // A window that was made shorter on purpose is not a downtime: the next sweep need not approach it slowly.
        values.put("swept", Micros.parameter(window.length < row.window ? Micros.NEVER : row.sweptAt));
        try (PreparedStatement statement = update.prepare(connection, values)) {
            statement.executeUpdate();
        }
        samples.renew(connection, consumer, wish.number);
        return new Row(
                window.length, window.at, results.length, results.at, row.cutoff, row.horizon, row.now, row.sweptAt);
    }

    private Row read(Connection connection, Map<String, NamedSql.Parameter> values) throws SQLException {
        try (PreparedStatement statement = read.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("The window was declared but cannot be read");
            }
            return new Row(
                    Micros.read(row, 1, Micros.FOR_EVER),
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    Micros.read(row, 5, Micros.NEVER),
                    Micros.read(row, 6, Micros.NEVER),
                    row.getLong(7),
                    Micros.read(row, 8, Micros.NEVER));
        }
    }

    private void warn(String consumer, Wish wish, long holds) {
        if (holds > wish.window && warned.add(consumer)) {
            log.warn(
                    "{}: this instance wants a window of {}, but another one wanted {}; the longer one holds until nobody"
                            + " has asked for it for a day",
                    consumer,
                    Micros.duration(wish.window),
                    holds == Micros.FOR_EVER ? "for ever" : Micros.duration(holds));
        }
    }

    private record Row(
            long window,
            long declaredAt,
            long results,
            long resultsDeclaredAt,
            long cutoff,
            long horizon,
            long now,
            long sweptAt) {}

    /** A length, and when somebody last wanted it that long. */
    private record Declared(long length, long at) {
        private Declared and(long wanted, long now) {
            boolean forgotten = at < now - HOLDS_FOR;
            return wanted >= length || forgotten ? new Declared(wanted, now) : this;
        }
    }
}
