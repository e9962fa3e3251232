package dev.idem.test;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.time.Instant;
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
public final class FlakyStore implements MarkerStore {
    private final MarkerStore real;
    private final UnaryOperator<Unit> disguise;
    private final AtomicInteger undone = new AtomicInteger();
    private final AtomicInteger lostDone = new AtomicInteger();
    private final AtomicInteger lostUndone = new AtomicInteger();

    private FlakyStore(MarkerStore real, UnaryOperator<Unit> disguise) {
        this.real = Objects.requireNonNull(real, "real");
        this.disguise = disguise;
    }

    public static FlakyStore around(MarkerStore real) {
        return new FlakyStore(real, unit -> unit);
    }

    /** The same, and every granted unit is changed by the function. */
    static FlakyStore around(MarkerStore real, UnaryOperator<Unit> disguise) {
        return new FlakyStore(real, disguise);
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
    public void retain(String consumer, Retention retention) {
        real.retain(consumer, retention);
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return real.isTransient(failure);
    }

    @Override
    public void close() {
        real.close();
    }

    private static boolean take(AtomicInteger left) {
        return left.getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0;
    }

    private final class FlakyUnit implements Unit {
        private final Unit unit;

        FlakyUnit(Unit unit) {
            this.unit = unit;
        }

        @Override
        public void commit(@Nullable StoredResult result) {
            if (take(undone)) {
                unit.rollback();
                throw new TransientStoreException("The unit was undone, as a test has asked", null);
            }
            if (take(lostUndone)) {
                unit.rollback();
                throw new CommitUnknownException("The commit was lost, as a test has asked", null);
            }
            unit.commit(result);
            if (take(lostDone)) {
                throw new CommitUnknownException("The answer to the commit was lost, as a test has asked", null);
            }
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
