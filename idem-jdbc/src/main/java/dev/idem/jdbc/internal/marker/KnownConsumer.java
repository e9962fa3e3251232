package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A consumer's name and the number that stands for it in the tables. */
public record KnownConsumer(int number, String name) {
    /** All of them, by name. */
    public static List<KnownConsumer> all(Connection connection, Tables tables) throws SQLException {
        String sql = tables.fill("SELECT number, name FROM ${consumer} ORDER BY name");
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet rows = statement.executeQuery()) {
            List<KnownConsumer> known = new ArrayList<>();
            while (rows.next()) {
                known.add(new KnownConsumer(rows.getInt(1), rows.getString(2)));
            }
            return known;
        }
    }

    /** Names of consumers by their numbers. */
    public static Map<Integer, String> names(Connection connection, Tables tables) throws SQLException {
        Map<Integer, String> names = new HashMap<>();
        all(connection, tables).forEach(known -> names.put(known.number, known.name));
        return names;
    }

    /** The number of a consumer; empty if the tables do not know it. */
    public static Optional<Integer> number(Connection connection, Tables tables, String consumer) throws SQLException {
        return all(connection, tables).stream()
                .filter(known -> known.name.equals(consumer))
                .map(KnownConsumer::number)
                .findFirst();
    }
}
