package dev.idem.jdbc.internal.guard;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The driver behind a connection to PostgreSQL, if it is the usual one. Found by reflection, because the driver is the
 * application's, and none is needed to compile.
 */
public final class PgDriver {
    private PgDriver() {}

    /** The driver's {@code org.postgresql.PGConnection}; empty if there is no such driver behind the connection. */
    public static Optional<Class<?>> connectionType(Connection connection) throws SQLException {
        for (ClassLoader loader : loaders(connection)) {
            try {
                Class<?> type = Class.forName("org.postgresql.PGConnection", false, loader);
                if (connection.isWrapperFor(type)) {
                    return Optional.of(type);
                }
            } catch (ClassNotFoundException elsewhere) {
                // the next one may know it
            }
        }
        return Optional.empty();
    }

    /**
     * Whether the driver sets a savepoint before each statement, to undo it alone when it fails ({@code autosave}). A
     * statement that carries the release of an older savepoint would take that one away with it.
     */
    static boolean setsSavepoints(Connection connection) throws SQLException {
        Optional<Class<?>> type = connectionType(connection);
        try {
            return type.isPresent()
                    && !String.valueOf(type.get().getMethod("getAutosave").invoke(connection.unwrap(type.get())))
                            .equalsIgnoreCase("never");
        } catch (ReflectiveOperationException tooOld) {
            return false;
        }
    }

    /** A pool is often loaded elsewhere than the driver; what the driver itself hands out, never. */
    private static List<ClassLoader> loaders(Connection connection) throws SQLException {
        List<ClassLoader> loaders = new ArrayList<>();
        add(loaders, connection.getClass().getClassLoader());
        add(loaders, connection.getMetaData().getClass().getClassLoader());
        add(loaders, Thread.currentThread().getContextClassLoader());
        add(loaders, PgDriver.class.getClassLoader());
        return loaders;
    }

    private static void add(List<ClassLoader> loaders, @Nullable ClassLoader loader) {
        if (loader != null && !loaders.contains(loader)) {
            loaders.add(loader);
        }
    }
}
