package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.UnitDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A pool as people write them by hand, and as MariaDB's own is: it hands out the very same connection object again, the
 * one that came back last first. Whoever closes it twice gives back what is somebody else's by then; whoever uses it after
 * closing it works in somebody else's transaction. What it sees of both is counted. Thread-safe.
 */
final class ReusingPool implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 30;

    private final DataSource real;
    private final int size;
    private final Semaphore permits;
    private final Deque<Pooled> idle = new ArrayDeque<>();
    private final List<Pooled> all = new ArrayList<>();
    private final List<String> trespasses = new ArrayList<>();
    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger tornDown = new AtomicInteger();

    ReusingPool(int size, DataSource real) {
        this.real = real;
        this.size = size;
        this.permits = new Semaphore(size, true);
    }

    DataSource dataSource() {
        return new UnitDataSource(this::take);
    }

    /** The calls on a connection that nobody had at that moment, a second close among them. */
    synchronized List<String> trespasses() {
        return List.copyOf(trespasses);
    }

    int inUse() {
        return size - permits.availablePermits();
    }

    /** How many physical connections there have been. */
    int opened() {
        return opened.get();
    }

    /** How many of them were aborted. */
    int tornDown() {
        return tornDown.get();
    }

    private Connection take() throws SQLException {
        try {
            if (!permits.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new SQLTransientConnectionException("The pool is exhausted", "08001");
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new SQLTransientConnectionException("Interrupted", "08001", stop);
        }
        try {
            Pooled pooled = pooled();
            pooled.taken = true;
            return pooled.proxy;
        } catch (SQLException | RuntimeException | Error failure) {
            permits.release();
            throw failure;
        }
    }

    private Pooled pooled() throws SQLException {
        synchronized (this) {
            Pooled last = idle.poll();
            if (last != null) {
                return last;
            }
        }
        Pooled fresh = new Pooled(real.getConnection());
        opened.incrementAndGet();
        synchronized (this) {
            all.add(fresh);
        }
        return fresh;
    }

    private synchronized void giveBack(Pooled pooled) {
        pooled.taken = false;
        try {
            if (!pooled.connection.isClosed()) {
                if (!pooled.connection.getAutoCommit()) {
                    pooled.connection.rollback();
                    pooled.connection.setAutoCommit(true);
                }
                idle.push(pooled);
            }
        } catch (SQLException broken) {
            quietlyClose(pooled);
        } catch (RuntimeException | Error failure) {
            quietlyClose(pooled);
            throw failure;
        } finally {
            permits.release();
        }
    }

    @Override
    public synchronized void close() {
        all.forEach(ReusingPool::quietlyClose);
    }

    private static void quietlyClose(Pooled pooled) {
        try {
            pooled.connection.close();
        } catch (SQLException gone) {
            return; // as it should be
        }
    }

    private synchronized void trespass(Method method) {
        trespasses.add(method.getName() + " on a connection that was given back");
    }

    private final class Pooled {
        private final Connection connection;
        private final Connection proxy;
        private volatile boolean taken;

        Pooled(Connection connection) {
            this.connection = connection;
            proxy = (Connection) Proxy.newProxyInstance(
                    ReusingPool.class.getClassLoader(), new Class<?>[] {Connection.class}, this::call);
        }

        private Object call(Object self, Method method, Object[] args) throws Throwable {
            switch (method.getName()) {
                case "equals" -> {
                    return self == args[0];
                }
                case "hashCode" -> {
                    return System.identityHashCode(self);
                }
                case "close" -> {
                    if (taken) {
                        giveBack(this);
                    } else {
                        trespass(method);
                    }
                    return null;
                }
                case "abort" -> tornDown.incrementAndGet();
                default -> {
                    // passed on
                }
            }
            if (!taken) {
                trespass(method);
            }
            try {
                return method.invoke(connection, args);
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }
    }
}
