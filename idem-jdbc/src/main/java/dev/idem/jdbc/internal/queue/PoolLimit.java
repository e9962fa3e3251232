package dev.idem.jdbc.internal.queue;

import java.util.List;
import java.util.OptionalInt;
import javax.sql.DataSource;

/** What a pool says of its size, where it is one of those that do: no standard knows the question. */
final class PoolLimit {
    /** HikariCP; DBCP2; c3p0 and UCP; Tomcat and Druid; the pool of H2, and PostgreSQL's own. */
    private static final List<String> NAMES =
            List.of("getMaximumPoolSize", "getMaxTotal", "getMaxPoolSize", "getMaxActive", "getMaxConnections");

    private PoolLimit() {}

    /** The most connections that are open at once; empty if it does not say. */
    static OptionalInt of(DataSource source) {
        for (String name : NAMES) {
            try {
                if (source.getClass().getMethod(name).invoke(source) instanceof Integer most) {
                    return OptionalInt.of(most > 0 ? most : Integer.MAX_VALUE);
                }
            } catch (ReflectiveOperationException | RuntimeException | LinkageError silent) {
                // asked by the next name
            }
        }
        return OptionalInt.empty();
    }
}
