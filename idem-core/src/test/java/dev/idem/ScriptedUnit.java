package dev.idem;

import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A unit that fails where it is told to. */
public final class ScriptedUnit implements UnitOfWork {
    public final CountDownLatch abandoned = new CountDownLatch(1);
    final Connection connection = stub(Connection.class);
    final DataSource dataSource = stub(DataSource.class);
    private final String claimId;
    private final List<String> calls;
    private @Nullable Instant horizon;
    private boolean used = true;
    private @Nullable RuntimeException horizonFault;
    private @Nullable RuntimeException revokeFault;
    private @Nullable RuntimeException commitFault;
    private @Nullable RuntimeException rollbackFault;
    volatile @Nullable StoredResult stored;

    public ScriptedUnit(String claimId, List<String> calls) {
        this.claimId = claimId;
        this.calls = calls;
    }

    public ScriptedUnit forgetsUpTo(Instant value) {
        horizon = value;
        return this;
    }

    public ScriptedUnit horizonFails(RuntimeException fault) {
        horizonFault = fault;
        return this;
    }

    @Override
    public Optional<Instant> horizon(Instant made) {
        if (horizonFault != null) {
            throw horizonFault;
        }
        return Optional.ofNullable(horizon).filter(value -> !made.isAfter(value));
    }

    ScriptedUnit unused() {
        used = false;
        return this;
    }

    public ScriptedUnit revokeFails(RuntimeException fault) {
        revokeFault = fault;
        return this;
    }

    public ScriptedUnit commitFails(RuntimeException fault) {
        commitFault = fault;
        return this;
    }

    public ScriptedUnit rollbackFails(RuntimeException fault) {
        rollbackFault = fault;
        return this;
    }

    @Override
    public String claimId() {
        return claimId;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public DataSource dataSource() {
        return dataSource;
    }

    @Override
    public boolean used() {
        return used;
    }

    @Override
    public void revoke() {
        calls.add("revoke");
        if (revokeFault != null) {
            throw revokeFault;
        }
    }

    @Override
    public void commit(@Nullable StoredResult result) {
        calls.add("commit");
        if (commitFault != null) {
            throw commitFault;
        }
        stored = result;
    }

    @Override
    public void rollback() {
        calls.add("rollback");
        if (rollbackFault != null) {
            throw rollbackFault;
        }
    }

    @Override
    public void abandon() {
        calls.add("abandon");
        abandoned.countDown();
    }

    @Override
    public void close() {
        calls.add("close");
    }

    public static <T> T stub(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            throw new UnsupportedOperationException(method.getName());
        }));
    }
}
