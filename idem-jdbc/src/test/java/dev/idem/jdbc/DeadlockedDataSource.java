package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Connections of which one loses a deadlock at the n-th statement or commit: the server has rolled all of it back. */
final class DeadlockedDataSource {
    private final DataSource real;
    private final Database database;
    private int left;

    DeadlockedDataSource(Database database, DataSource real) {
        this.database = database;
        this.real = real;
    }

    /** Counted from now on. */
    synchronized void loseAt(int nthCall) {
        left = nthCall;
    }

    /** Whether it came so far. */
    synchronized boolean hasLost() {
        return left <= 0;
    }

    DataSource dataSource() {
        return new UnitDataSource(() -> proxy(Connection.class, real.getConnection()));
    }

    private <T> T proxy(Class<T> type, Object target) {
        return type.cast(Proxy.newProxyInstance(
                DeadlockedDataSource.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> call(target, method, args)));
    }

    private Object call(Object target, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        if ((name.startsWith("execute") || name.equals("commit")) && isItsTurn()) {
            Connection connection = target instanceof Connection c ? c : ((Statement) target).getConnection();
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
            throw deadlock();
        }
        try {
            Object answer = method.invoke(target, args);
            return answer instanceof PreparedStatement prepared
                    ? proxy(PreparedStatement.class, prepared)
                    : answer instanceof Statement statement ? proxy(Statement.class, statement) : answer;
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    private synchronized boolean isItsTurn() {
        return --left == 0;
    }

    private SQLException deadlock() {
        return switch (database) {
            case POSTGRESQL -> new SQLException("deadlock detected", "40P01");
            case MARIADB -> new SQLException("Deadlock found when trying to get lock", "40001", 1213);
            case H2 -> new SQLException("Deadlock detected", "40001", 40001);
        };
    }
}
