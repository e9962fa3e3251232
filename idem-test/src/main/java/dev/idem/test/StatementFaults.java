package dev.idem.test;

import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Counts the statements that handlers send through their transactions, and lets one of them fail. */
final class StatementFaults {
    private final int nth;
    private final AtomicInteger count = new AtomicInteger();

    private StatementFaults(int nth) {
        this.nth = nth;
    }

    static StatementFaults none() {
        return new StatementFaults(0);
    }

    static StatementFaults at(int nth) {
        return new StatementFaults(nth);
    }

    int count() {
        return count.get();
    }

    /** The unit with connections and data sources that go through here. */
    UnitOfWork in(UnitOfWork unit) {
        return new FaultyUnit(unit);
    }

    private <T> T watched(T target, Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            if (target instanceof Statement && method.getName().startsWith("execute")) {
                failIfItsTurn();
            }
            return watched(method, invoke(target, method, args));
        }));
    }

    /** Connections and statements lead to more of them; whatever else comes back is harmless. */
    @SuppressWarnings("unchecked")
    private @Nullable Object watched(Method method, @Nullable Object result) {
        Class<?> type = method.getReturnType();
        boolean leadsOn = type == Connection.class || Statement.class.isAssignableFrom(type);
        return leadsOn && result != null ? watched(result, (Class<Object>) type) : result;
    }

    private void failIfItsTurn() throws SQLException {
        int now = count.incrementAndGet();
        if (now == nth) {
            throw new SQLException("Statement " + now + " failed, as the idempotency test wants", "22000");
        }
    }

    private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getCause() == null ? failure : failure.getCause();
        }
    }

    private final class FaultyUnit implements UnitOfWork {
        private final UnitOfWork unit;

        FaultyUnit(UnitOfWork unit) {
            this.unit = unit;
        }

        @Override
        public Optional<Instant> horizon(Instant made) {
            return unit.horizon(made);
        }

        @Override
        public Connection connection() {
            return watched(unit.connection(), Connection.class);
        }

        @Override
        public DataSource dataSource() {
            return watched(unit.dataSource(), DataSource.class);
        }

        @Override
        public void defer(String sql, @Nullable Object... args) {
            unit.defer(sql, args);
        }

        @Override
        public void deferInOrder(String line, String sql, @Nullable Object... args) {
            unit.deferInOrder(line, sql, args);
        }

        @Override
        public void flush() throws Exception {
            unit.flush();
        }

        @Override
        public boolean withdraw() {
            return unit.withdraw();
        }

        @Override
        public String claimId() {
            return unit.claimId();
        }

        @Override
        public boolean used() {
            return unit.used();
        }

        @Override
        public void revoke() {
            unit.revoke();
        }

        @Override
        public void commit(@Nullable StoredResult result) {
            unit.commit(result);
        }

        @Override
        public void rollback() {
            unit.rollback();
        }

        @Override
        public void abandon() {
            unit.abandon();
        }

        @Override
        public void close() {
            unit.close();
        }
    }
}
