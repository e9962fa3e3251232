package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Connections of which one is lost at the n-th statement or commit of a thread: the server still gets the statement, at once
 * or a moment later, but nobody hears its answer. Other connections go on.
 */
final class UnsureDataSource {
    private final DataSource real;
    private volatile Thread victim;
    private int left;
    private boolean late;
    private volatile boolean struck;

    UnsureDataSource(DataSource real) {
        this.real = real;
    }

    /** Counted from now on, of the thread that says so. */
    void loseAnswer(int nthCall, boolean comesLate) {
        left = nthCall;
        late = comesLate;
        victim = Thread.currentThread();
    }

    /** Whether it came so far. */
    boolean hasStruck() {
        return struck;
    }

    DataSource dataSource() {
        return new UnitDataSource(() -> new Lost(real.getConnection()).proxy());
    }

    private final class Lost {
        private final Connection connection;
        private CompletableFuture<Void> pending;

        Lost(Connection connection) {
            this.connection = connection;
        }

        Connection proxy() {
            return proxy(Connection.class, connection);
        }

        private <T> T proxy(Class<T> type, Object target) {
            return type.cast(Proxy.newProxyInstance(
                    UnsureDataSource.class.getClassLoader(),
                    new Class<?>[] {type},
                    (self, method, args) -> call(target, method, args)));
        }

        private Object call(Object target, Method method, Object[] args) throws Throwable {
            String name = method.getName();
            if (pending != null) {
                return afterTheLoss(target, method, args);
            }
            if ((name.startsWith("execute") || name.equals("commit")) && isItsTurn()) {
                pending = CompletableFuture.runAsync(
                        () -> {
                            try {
                                method.invoke(target, args);
                            } catch (ReflectiveOperationException failure) {
                                throw new CompletionException(failure);
                            }
                        },
                        CompletableFuture.delayedExecutor(late ? 300 : 0, TimeUnit.MILLISECONDS));
                if (!late) {
                    pending.exceptionally(failure -> null).join();
                }
                throw new SQLException("the answer was lost", "08006");
            }
            Object answer = pass(target, method, args);
            return answer instanceof PreparedStatement prepared
                    ? proxy(PreparedStatement.class, prepared)
                    : answer instanceof Statement statement ? proxy(Statement.class, statement) : answer;
        }

        /** The server ends the session when it has done what it was sent. */
        private Object afterTheLoss(Object target, Method method, Object[] args) throws Throwable {
            switch (method.getName()) {
                case "close", "abort" -> {
                    if (target == connection) {
                        pending.whenComplete((done, failure) -> {
                            try {
                                if (!connection.isClosed() && !connection.getAutoCommit()) {
                                    connection.rollback();
                                }
                                connection.close();
                            } catch (SQLException gone) {
                                return; // as it should be
                            }
                        });
                    }
                    return null;
                }
                case "isClosed" -> {
                    return true;
                }
                case "isValid" -> {
                    return false;
                }
                case "hashCode", "equals", "toString" -> {
                    return pass(target, method, args);
                }
                default -> throw new SQLException("the connection is lost", "08003");
            }
        }
    }

    private boolean isItsTurn() {
        if (Thread.currentThread() != victim || --left != 0) {
            return false;
        }
        struck = true;
        return true;
    }

    private static Object pass(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
