package dev.idem.bench.load;

import dev.idem.bench.contender.Sql;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * What a measurement must have left behind: who is fast because it does nothing is found out here.
 *
 * @param table one row for each effect
 * @param key what tells effects apart
 * @param once whether every effect must be there only once
 */
record Effects(String table, String key, boolean once) {
    static final Effects PAYMENTS = new Effects("payment", "order_id", true);

    /** Empties these tables and the payments. */
    static void empty(DataSource dataSource, List<String> tables) throws SQLException {
        List<String> all = new ArrayList<>(tables);
        all.add(PAYMENTS.table());
        Sql.execute(dataSource, "TRUNCATE " + String.join(", ", all));
    }

    void check(DataSource dataSource, String contender, Workload workload, long expected) throws SQLException {
        long found = Sql.number(dataSource, "SELECT count(*) FROM " + table);
        long different = Sql.number(dataSource, "SELECT count(DISTINCT " + key + ") FROM " + table);
        if (found != expected || (once && different != expected)) {
            throw new WrongCountException(contender, workload, expected, found, different);
        }
    }
}
