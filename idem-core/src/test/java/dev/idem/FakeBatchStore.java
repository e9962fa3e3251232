package dev.idem;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.Guarantee;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerStore;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLTransientException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Batches in memory, with effects that can be counted, and with everything that can go wrong on request. */
public final class FakeBatchStore implements MarkerStore.Batching {
    public static final Instant DONE_AT = Instant.parse("2026-01-02T03:04:05Z");

    /** By what makes a key readable. */
    public final Map<String, Marker> markers = new HashMap<>();

    public final List<String> effects = new ArrayList<>();
    public final Set<String> busy = new HashSet<>();
    /** The keys of each claim that reached the store. */
    public final List<List<String>> claims = new ArrayList<>();

    private final Queue<Runnable> claimFaults = new ArrayDeque<>();
    private final Queue<End> ends = new ArrayDeque<>();
    private @Nullable FakeBatch running;

    /** What happens instead of the next commit. */
    public interface End {
        void of(FakeBatch batch);
    }

    public FakeBatchStore nextClaim(Runnable fault) {
        claimFaults.add(fault);
        return this;
    }

    public FakeBatchStore nextCommit(End end) {
        ends.add(end);
        return this;
    }

    /** Writes through the unit that is running. */
    public void write(String effect) {
        running().unit().write(effect);
    }

    public FakeBatch running() {
        if (running == null) {
            throw new IllegalStateException("no batch is running");
        }
        return running;
    }

    @Override
    public Batch claimAll(List<ClaimRequest> requests) {
        claims.add(
                requests.stream().map(r -> String.valueOf(r.key().readable())).toList());
        Runnable fault = claimFaults.poll();
        if (fault != null) {
            fault.run();
        }
        running = new FakeBatch(this, "claim " + claims.size(), requests);
        return running;
    }

    void commit(FakeBatch batch) {
        End end = ends.poll();
        if (batch.grantedKeys().stream().anyMatch(key -> "poison".equals(key.readable()))) {
            throw new CommitUnknownException("lost with its connection", null);
        } else if (end != null) {
            end.of(batch);
        } else {
            batch.apply();
        }
    }

    @Override
    public Claim claim(ClaimRequest request) {
        throw new UnsupportedOperationException("one by one");
    }

    @Override
    public Guarantee guarantee() {
        return Guarantee.WITHIN_PROCESS;
    }

    @Override
    public String describe() {
        return "fake";
    }

    @Override
    public void register(String consumer) {}

    @Override
    public boolean isTransient(Throwable failure) {
        return failure instanceof SQLTransientException;
    }

    @Override
    public boolean isConnectionLost(Throwable failure) {
        return failure instanceof SQLTransientConnectionException;
    }

    @Override
    public void close() {}
}
