package dev.idem.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A statement with named parameters, so that each dialect can use them in its own order and as often as it needs. */
public final class NamedSql {
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z]+)");

    private final String sql;
    private final String[] names;

    public NamedSql(String named) {
        List<String> found = new ArrayList<>();
        Matcher matcher = PARAMETER.matcher(named);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            found.add(Objects.requireNonNull(matcher.group(1)));
            matcher.appendReplacement(text, "?");
        }
        sql = matcher.appendTail(text).toString();
        names = found.toArray(String[]::new);
    }

    public PreparedStatement prepare(Connection connection, Map<String, Parameter> values) throws SQLException {
        return prepare(connection, (name, statement, i) -> {
            Parameter value = values.get(name);
            if (value == null) {
                throw missing(name);
            }
            value.bind(statement, i);
        });
    }

    /** Without a map, for what is sent with every message. */
    public PreparedStatement prepare(Connection connection, Values values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            for (int i = 0; i < names.length; i++) {
                values.bind(names[i], statement, i + 1);
            }
            return statement;
        } catch (SQLException | RuntimeException failure) {
            Transactions.quietly(statement::close, failure);
            throw failure;
        }
    }

    /** The values in the order of the text, for whoever binds them by themselves. */
    @Nullable
    public Object[] values(Function<String, @Nullable Object> of) {
        @Nullable Object[] values = new @Nullable Object[names.length];
        for (int i = 0; i < names.length; i++) {
            values[i] = of.apply(names[i]);
        }
        return values;
    }

    @Override
    public String toString() {
        return sql;
    }

    public static IllegalStateException missing(String name) {
        return new IllegalStateException("no value for parameter " + name);
    }

    /** Binds the value of a name. */
    @FunctionalInterface
    public interface Values {
        void bind(String name, PreparedStatement statement, int index) throws SQLException;
    }

    /** A value that knows how to bind itself. */
    @FunctionalInterface
    public interface Parameter {
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

        static Parameter array(String type, Object[] values) {
            return (s, i) -> s.setArray(i, s.getConnection().createArrayOf(type, values));
        }
    }
}
