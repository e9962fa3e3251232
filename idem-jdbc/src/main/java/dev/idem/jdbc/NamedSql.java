package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A statement with named parameters, so that each dialect can use them in its own order and as often as it needs. */
final class NamedSql {
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z]+)");

    private final String sql;
    private final List<String> names = new ArrayList<>();

    NamedSql(String named) {
        Matcher matcher = PARAMETER.matcher(named);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            names.add(Objects.requireNonNull(matcher.group(1)));
            matcher.appendReplacement(text, "?");
        }
        sql = matcher.appendTail(text).toString();
    }

    PreparedStatement prepare(Connection connection, Map<String, Parameter> values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            for (int i = 0; i < names.size(); i++) {
                Parameter value = values.get(names.get(i));
                if (value == null) {
                    throw new IllegalStateException("no value for parameter " + names.get(i));
                }
                value.bind(statement, i + 1);
            }
            return statement;
        } catch (SQLException | RuntimeException failure) {
            Transactions.quietly(statement::close, failure);
            throw failure;
        }
    }

    @Override
    public String toString() {
        return sql;
    }

    /** A value that knows how to bind itself. */
    @FunctionalInterface
    interface Parameter {
        void bind(PreparedStatement statement, int index) throws SQLException;

        static Parameter of(int value) {
            return (s, i) -> s.setInt(i, value);
        }

        static Parameter of(long value) {
            return (s, i) -> s.setLong(i, value);
        }

        static Parameter of(@Nullable String value) {
            return (s, i) -> s.setString(i, value);
        }

        static Parameter of(byte @Nullable [] value) {
            return (s, i) -> s.setBytes(i, value);
        }
    }
}
