package dev.idem.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Receives notifications through the driver's {@code org.postgresql.PGConnection}. Found by reflection, because the driver is
 * the application's, and none is needed to compile or to run without notifications. Used by one thread.
 */
final class PgNotifications {
    private final Object connection;
    private final Method receive;
    private final Method payload;

    private PgNotifications(Object connection, Method receive, Method payload) {
        this.connection = connection;
        this.receive = receive;
        this.payload = payload;
    }

    /** Empty if there is no such driver behind the connection, or it is too old. */
    static Optional<PgNotifications> of(Connection connection) throws SQLException {
        for (ClassLoader loader : loaders(connection)) {
            try {
                Class<?> type = Class.forName("org.postgresql.PGConnection", false, loader);
                if (connection.isWrapperFor(type)) {
                    return Optional.of(new PgNotifications(
                            connection.unwrap(type),
                            type.getMethod("getNotifications", int.class),
                            Class.forName("org.postgresql.PGNotification", false, loader)
                                    .getMethod("getParameter")));
                }
            } catch (ReflectiveOperationException elsewhere) {
                // the next one may know it
            }
        }
        return Optional.empty();
    }

    /** A pool is often loaded elsewhere than the driver; what the driver itself hands out, never. */
    private static List<ClassLoader> loaders(Connection connection) throws SQLException {
        List<ClassLoader> loaders = new ArrayList<>();
        add(loaders, connection.getClass().getClassLoader());
        add(loaders, connection.getMetaData().getClass().getClassLoader());
        add(loaders, Thread.currentThread().getContextClassLoader());
        add(loaders, PgNotifications.class.getClassLoader());
        return loaders;
    }

    private static void add(List<ClassLoader> loaders, @Nullable ClassLoader loader) {
        if (loader != null && !loaders.contains(loader)) {
            loaders.add(loader);
        }
    }

    /** Waits for the first; the payloads of all that are there then, none if the time is over. */
    List<String> await(Duration longest) throws SQLException {
        try {
            Object received = receive.invoke(connection, Math.max(1, (int) longest.toMillis()));
            List<String> payloads = new ArrayList<>();
            if (received != null) {
                for (Object notification : (Object[]) received) {
                    payloads.add((String) payload.invoke(notification));
                }
            }
            return payloads;
        } catch (InvocationTargetException failure) {
            throw failure.getCause() instanceof SQLException sql ? sql : new SQLException(failure.getCause());
        } catch (IllegalAccessException impossible) {
            throw new SQLException("The driver hides what it offers", impossible);
        }
    }
}
