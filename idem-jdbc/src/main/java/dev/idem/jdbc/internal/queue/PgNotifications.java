package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.guard.PgDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
        Optional<Class<?>> type = PgDriver.connectionType(connection);
        if (type.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new PgNotifications(
                    connection.unwrap(type.get()),
                    type.get().getMethod("getNotifications", int.class),
                    Class.forName(
                                    "org.postgresql.PGNotification",
                                    false,
                                    type.get().getClassLoader())
                            .getMethod("getParameter")));
        } catch (ReflectiveOperationException tooOld) {
            return Optional.empty();
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
