package dev.idem.test;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A real store whose commits go wrong on request, as they do when a connection dies at the worst moment. Everything else
 * is the real store's. Thread-safe.
 *
 * <pre>{@code
 * FlakyStore store = FlakyStore.around(realStore).loseAnswers(1);
 * }</pre>
 */
public class FlakyStore implements MarkerStore.Secretive, MarkerStore.Pingable {
    private static final int SECRET_BYTES = 32;

    private final MarkerStore real;
    private final UnaryOperator<UnitOfWork> disguise;
    private final AtomicInteger undone = new AtomicInteger();
    private final AtomicInteger lostDone = new AtomicInteger();
    private final AtomicInteger lostUndone = new AtomicInteger();

    private FlakyStore(MarkerStore real, UnaryOperator<UnitOfWork> disguise) {
        this.real = Objects.requireNonNull(real, "real");
        this.disguise = disguise;
    }

    public static FlakyStore around(MarkerStore real) {
        return around(real, unit -> unit);
    }

    /** The same, and every granted unit is changed by the function. */
    static FlakyStore around(MarkerStore real, UnaryOperator<UnitOfWork> disguise) {
        return real instanceof MarkerStore.Batching batching
                ? new OfBatches(batching, disguise)
                : new FlakyStore(real, disguise);
    }

    /** The next so many commits are rolled back, and the caller is told: a deadlock, a connection lost in time. */
    public FlakyStore undoCommits(int next) {
        undone.set(next);
        return this;
    }

    /** The next so many commits succeed, but their answer is lost. */
    public FlakyStore loseAnswers(int next) {
        lostDone.set(next);
        return this;
    }

    /** The next so many commits are rolled back, and that answer is lost: the caller cannot tell it from success. */
    public FlakyStore loseCommits(int next) {
        lostUndone.set(next);
        return this;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        Claim claim = real.claim(request);
        return claim instanceof Claim.Granted granted
                ? new Claim.Granted(new FlakyUnit(disguise.apply(granted.unit())))
                : claim;
    }

    @Override
    public Guarantee guarantee() {
        return real.guarantee();
    }

    @Override
    public String describe() {
        return real.describe() + ", made unreliable for a test";
    }

    @Override
    public void register(String consumer) {
        real.register(consumer);
    }

    @Override
    public void admit(String consumer, boolean timeOrdered) {
        real.admit(consumer, timeOrdered);
    }

    @Override
    public void retain(String consumer, Retention retention) {
        real.retain(consumer, retention);
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return real.isTransient(failure);
    }

    @Override
    public boolean isConnectionLost(Throwable failure) {
        return real.isConnectionLost(failure);
    }

    @Override
    public boolean isOutOfResources(Throwable failure) {
        return real.isOutOfResources(failure);
    }

    @Override
    public int largestResult() {
        return real.largestResult();
    }

    @Override
    public void close() {
        real.close();
    }

    /** The real store's, or 32 zeros if it has none. */
    @Override
    public byte[] secret() {
        return real instanceof MarkerStore.Secretive keeper ? keeper.secret() : new byte[SECRET_BYTES];
    }

    @Override
    public void ping() {
        if (real instanceof MarkerStore.Pingable pingable) {
            pingable.ping();
        }
    }

    private static boolean take(AtomicInteger left) {
        return left.getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0;
    }

    /** Ends a unit or a batch as it was asked for. */
    private void end(Runnable rollback, Runnable commit) {
        if (take(undone)) {
            rollback.run();
            throw new TransientStoreException("The unit was undone, as a test has asked", null);
        }
        if (take(lostUndone)) {
            rollback.run();
            throw new CommitUnknownException("The commit was lost, as a test has asked", null);
        }
        commit.run();
        if (take(lostDone)) {
            throw new CommitUnknownException("The answer to the commit was lost, as a test has asked", null);
        }
    }

    /** The same for a store that takes batches; then what is asked for happens to the commits of batches too. */
    private static final class OfBatches extends FlakyStore implements MarkerStore.Batching {
        private final MarkerStore.Batching real;
        private final UnaryOperator<UnitOfWork> disguise;

        OfBatches(MarkerStore.Batching real, UnaryOperator<UnitOfWork> disguise) {
            super(real, disguise);
            this.real = real;
            this.disguise = disguise;
        }

        @Override
        public Batch claimAll(List<ClaimRequest> requests) {
            Batch batch = real.claimAll(requests);
            return new FlakyBatch(batch, disguise, commit -> super.end(batch::close, commit));
        }
    }

    private final class FlakyUnit implements UnitOfWork {
        private final UnitOfWork unit;

        FlakyUnit(UnitOfWork unit) {
            this.unit = unit;
        }

        @Override
        public void commit(@Nullable StoredResult result) {
            end(unit::rollback, () -> unit.commit(result));
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
        public Connection connection() {
            return unit.connection();
        }

        @Override
        public DataSource dataSource() {
            return unit.dataSource();
        }

        @Override
        public Optional<Instant> horizon(Instant made) {
            return unit.horizon(made);
        }

        @Override
        public boolean isOwn(Throwable failure) {
            return unit.isOwn(failure);
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
