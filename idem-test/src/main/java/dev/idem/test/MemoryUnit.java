package dev.idem.test;

import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Marker;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A claim held in memory. It ends once; whatever comes later finds it ended and does nothing, or says so. */
final class MemoryUnit implements UnitOfWork {
    static final String NO_TRANSACTION = "MemoryStore has no database transaction. Give the handler its data"
            + " in another way, or test it with a relational store on an in-memory database";

    private final MemoryStore store;
    private final MemoryStore.Key key;
    private final @Nullable String readable;
    private final byte @Nullable [] fingerprint;
    private final String claimId = UUID.randomUUID().toString();

    MemoryUnit(MemoryStore store, MemoryStore.Key key, ClaimRequest request) {
        this.store = store;
        this.key = key;
        this.readable = request.key().readable();
        this.fingerprint = request.fingerprint();
    }

    MemoryStore.Key key() {
        return key;
    }

    Marker marker(Instant now, @Nullable StoredResult result) {
        return new Marker(readable, fingerprint, now, claimId, result);
    }

    @Override
    public String claimId() {
        return claimId;
    }

    @Override
    public Connection connection() {
        throw new UnsupportedOperationException(NO_TRANSACTION);
    }

    @Override
    public DataSource dataSource() {
        throw new UnsupportedOperationException(NO_TRANSACTION);
    }

    /** Always: there is nothing to send through, so nothing was forgotten. */
    @Override
    public boolean used() {
        return true;
    }

    @Override
    public void revoke() {}

    @Override
    public void commit(@Nullable StoredResult result) {
        store.commit(Map.of(this, Optional.ofNullable(result)));
    }

    @Override
    public void rollback() {
        store.release(this);
    }

    @Override
    public void abandon() {
        store.release(this);
    }

    @Override
    public void close() {
        store.release(this);
    }
}
