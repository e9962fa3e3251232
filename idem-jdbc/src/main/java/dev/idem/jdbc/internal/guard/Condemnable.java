package dev.idem.jdbc.internal.guard;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A connection of ours that can forbid its commit by itself. Found by {@code unwrap}, through whatever wraps it. */
public interface Condemnable {
    /** From now on its transaction can only be rolled back. */
    void condemn();

    /** What it passes its calls on to. */
    Connection below();

    /** Null if the connection is none of ours. */
    static @Nullable Condemnable of(Connection connection) {
        try {
            return connection.isWrapperFor(Condemnable.class) ? connection.unwrap(Condemnable.class) : null;
        } catch (SQLException | RuntimeException | AbstractMethodError foreign) {
            return null;
        }
    }

    /** What is behind a connection and all of ours that lead to it: one object for all who share a transaction by them. */
    static Connection behind(Connection connection) {
        Connection behind = connection;
        for (Condemnable ours = of(behind); ours != null; ours = of(behind)) {
            behind = ours.below();
        }
        return behind;
    }
}
