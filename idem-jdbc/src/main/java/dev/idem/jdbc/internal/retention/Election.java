package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/**
 * Elects one sweeper among all instances: whoever moves the time of the next sweep, which only one of many can, because
 * the update looks at that time itself. No lock is held meanwhile. Two sweeps at once would do no harm but work.
 */
public final class Election {
    private final DataSource dataSource;
    private final NamedSql claim;
    private final NamedSql keep;

    public Election(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        String now = RetentionSql.of(tables.dialect().database()).now();
        String move = "UPDATE ${meta} SET next_sweep_at = " + now + " + :interval";
        claim = new NamedSql(tables.fill(move + " WHERE next_sweep_at <= " + now));
        keep = new NamedSql(tables.fill(move));
    }

    /** True for the one that is to sweep now. */
    boolean won(Duration interval) throws SQLException {
        return move(claim, interval) == 1;
    }

    /** Puts the next sweep off, because one is running, or was asked for by a person. */
    public void putOff(Duration interval) throws SQLException {
        move(keep, interval);
    }

    private int move(NamedSql sql, Duration interval) throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of("interval", NamedSql.Parameter.of(Micros.of(interval)));
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                try (PreparedStatement statement = sql.prepare(connection, values)) {
                    return statement.executeUpdate();
                }
            });
        }
    }
}
