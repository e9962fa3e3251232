package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import javax.sql.DataSource;

/** Connections on which something happens, once, right after markers were read. */
final class AfterRead {
    private final DataSource real;
    private volatile Runnable next;
    private volatile boolean happened;

    AfterRead(DataSource real) {
        this.real = real;
    }

    void then(Runnable action) {
        next = action;
    }

    boolean happened() {
        return happened;
    }

    DataSource dataSource() {
        return new UnitDataSource(() -> proxy(Connection.class, real.getConnection(), ""));
    }

    private <T> T proxy(Class<T> type, Object target, String sql) {
        return type.cast(Proxy.newProxyInstance(
                AfterRead.class.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
                    Object answer;
                    try {
                        answer = method.invoke(target, args);
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                    if (answer instanceof PreparedStatement statement) {
                        return proxy(PreparedStatement.class, statement, (String) args[0]);
                    }
                    if (method.getName().startsWith("execute") && isRead(sql)) {
                        Runnable action = next;
                        next = null;
                        if (action != null) {
                            action.run();
                            happened = true;
                        }
                    }
                    return answer;
                }));
    }

    private static boolean isRead(String sql) {
        return sql.startsWith("SELECT") && sql.contains("idem_marker") && !sql.contains("INSERT");
    }
}
