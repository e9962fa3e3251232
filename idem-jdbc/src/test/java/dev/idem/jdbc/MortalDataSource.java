package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * The database as a process sees it that dies at its n-th statement or commit, before it or right after it: from then on
 * nothing it does reaches the database, and what it had open is rolled back by the server. Or only the connection is lost
 * there, and the process goes on.
 */
final class MortalDataSource {
    private final DataSource real;
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private int calls;
    private int deadly = Integer.MAX_VALUE;
    private boolean after;
    private boolean connectionOnly;
    private volatile boolean dead;
    private volatile boolean lost;

    MortalDataSource(DataSource real) {
        this.real = real;
    }

    /** Counted from now on. */
    synchronized void dieAt(int nthCall, boolean afterIt) {
        calls = 0;
        deadly = nthCall;
        after = afterIt;
    }

    /** The same, but only the connection is lost. */
    synchronized void loseConnectionAt(int nthCall, boolean afterIt) {
        dieAt(nthCall, afterIt);
        connectionOnly = true;
    }

    boolean hasLostConnection() {
        return lost;
    }

    synchronized int calls() {
        return calls;
    }

    boolean isDead() {
        return dead;
    }

    /** Now, wherever it is. */
    void die() {
        dead = true;
        for (Connection connection : open) {
            try {
                connection.rollback();
                connection.close();
            } catch (SQLException gone) {
                continue; // as it should be
            }
        }
    }

    DataSource dataSource() {
        return new UnitDataSource(this::connect);
    }

    private Connection connect() throws SQLException {
        check();
        Connection connection = real.getConnection();
        open.add(connection);
        return proxy(Connection.class, connection);
    }

    private void check() throws SQLException {
        if (dead) {
            throw new SQLException("This process is dead", "08003");
        }
    }

    private <T> T proxy(Class<T> type, Object target) {
        return type.cast(Proxy.newProxyInstance(
                MortalDataSource.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> call(target, method, args)));
    }

    private Object call(Object target, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        if (name.equals("close")) {
            open.remove(target);
            return pass(target, method, args);
        }
        if (name.equals("unwrap") || name.equals("isWrapperFor") || method.getDeclaringClass() == Object.class) {
            return pass(target, method, args);
        }
        check();
        boolean counts = name.startsWith("execute") || name.equals("commit");
        boolean last = counts && isLast();
        if (last && !after) {
            end(target);
        }
        Object answer = pass(target, method, args);
        if (last) {
            end(target);
        }
        return answer instanceof PreparedStatement prepared
                ? proxy(PreparedStatement.class, prepared)
                : answer instanceof Statement statement ? proxy(Statement.class, statement) : answer;
    }

    private void end(Object target) throws SQLException {
        if (!connectionOnly) {
            die();
            check();
        }
        lost = true;
        Connection connection = target instanceof Connection c ? c : ((Statement) target).getConnection();
        open.remove(connection);
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
        connection.close();
        throw new SQLException("The connection is lost", "08006");
    }

    private synchronized boolean isLast() {
        return ++calls == deadly;
    }

    private static Object pass(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
