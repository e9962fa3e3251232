package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * A primary and the standby that takes over without the primary's last commits. Stores use the one that serves, as clients
 * find it behind one address.
 */
public final class Failover implements AutoCloseable {
    private final Db primary;
    private final Db standby;
    private volatile Db serving;

    public Failover(Database kind) {
        primary = Db.fresh(kind);
        standby = Db.fresh(kind);
        serving = primary;
        JdbcSchema.of(primary.plain()).apply();
        JdbcSchema.of(standby.plain()).apply();
    }

    /** What the standby got in time. */
    public void standby(String... statements) {
        standby.execute(statements);
    }

    public DataSource dataSource() {
        return new UnitDataSource(() -> serving.plain().getConnection());
    }

    public JdbcStore store() {
        return serving.store(dataSource());
    }

    public void happen() throws SQLException {
        if (primary.kind() == Database.MARIADB) {
            primary.execute(exchange());
        } else {
            serving = standby;
        }
    }

    /** MariaDB's stores name the database with each table, so there the standby's tables take the primary's name. */
    private String exchange() throws SQLException {
        List<String> moves = new ArrayList<>();
        try (Connection connection = standby.plain().getConnection();
                Statement statement = connection.createStatement();
                ResultSet tables = statement.executeQuery("SHOW TABLES")) {
            String from = connection.getCatalog();
            String to = primary.text("SELECT DATABASE()");
            while (tables.next()) {
                String table = tables.getString(1);
                moves.add(to + "." + table + " TO " + to + ".lost_" + table);
                moves.add(from + "." + table + " TO " + to + "." + table);
            }
        }
        return "RENAME TABLE " + String.join(", ", moves);
    }

    /** What serves now. */
    public Db db() {
        return serving;
    }

    @Override
    public void close() {
        primary.close();
        standby.close();
    }
}
