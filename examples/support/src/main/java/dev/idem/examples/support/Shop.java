package dev.idem.examples.support;

import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** The database that the examples run on, and looks at what they have done. A service of yours has these already. */
public final class Shop {
    private Shop() {}

    /** In memory, and there until the process ends. */
    public static DataSource database() {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        return database;
    }

    public static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of what is selected, as text. */
    public static List<String> select(DataSource database, String sql) throws SQLException {
        List<String> values = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement select = connection.createStatement();
                ResultSet rows = select.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }

    /** The id of each dead letter, and why it is one. */
    public static List<String> read(DeadLetters letters) {
        List<String> read = new ArrayList<>();
        for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
            String id = next.get().message().id().orElse("no id");
            read.add(id + ", " + next.get().about().reason());
        }
        return read;
    }
}
