package dev.idem.jdbc;

import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Puts a time in front of every key, always the same for the same key, spread over two days. */
final class TimedKeys implements MarkerStore.Joinable, MarkerStore.Batching {
    private static final long TODAY = Partition.dayOf(Instant.now().toEpochMilli());

    private final JdbcStore real;

    TimedKeys(JdbcStore real) {
        this.real = real;
    }

    private static MarkerKey timed(MarkerKey key) {
        UUID value = key.value();
        long bits = value.getMostSignificantBits();
        long day = (bits >>> 16 & 1) == 0 ? TODAY : TODAY - Partition.DAY;
        long millis = day + (bits >>> 17) % Partition.DAY;
        return new MarkerKey(
                key.consumer(),
                new UUID(millis << 16 | bits & 0xFFFF, value.getLeastSignificantBits()),
                key.readable());
    }

    private static ClaimRequest timed(ClaimRequest request) {
        return new ClaimRequest(timed(request.key()), request.fingerprint(), request.busyWait(), request.withResult());
    }

    @Override
    public Claim claim(ClaimRequest request) {
        return real.claim(timed(request));
    }

    @Override
    public Claim claimWithin(Connection outer, ClaimRequest request) {
        return real.claimWithin(outer, timed(request));
    }

    @Override
    public void rollbackOnly(Connection outer) {
        real.rollbackOnly(outer);
    }

    @Override
    public Optional<String> openHere() {
        return real.openHere();
    }

    @Override
    public Batch claimAll(List<ClaimRequest> requests) {
        Map<MarkerKey, MarkerKey> back = new HashMap<>();
        requests.forEach(request -> back.put(timed(request.key()), request.key()));
        Batch batch = real.claimAll(requests.stream().map(TimedKeys::timed).toList());
        return Guard.proxy(Batch.class, (proxy, method, args) -> {
            if (method.getName().equals("refused")) {
                Map<MarkerKey, Claim> refused = new HashMap<>();
                batch.refused().forEach((key, claim) -> refused.put(back.get(key), claim));
                return refused;
            }
            for (int i = 0; args != null && i < args.length; i++) {
                args[i] = args[i] instanceof MarkerKey key
                        ? timed(key)
                        : args[i] instanceof List<?> keys
                                ? keys.stream()
                                        .map(key -> timed((MarkerKey) key))
                                        .toList()
                                : args[i];
            }
            try {
                return method.invoke(batch, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        });
    }

    @Override
    public void admit(String consumer, boolean timeOrdered) {
        real.admit(consumer, true);
    }

    @Override
    public void retain(String consumer, Retention retention) {
        real.retain(consumer, retention);
    }

    @Override
    public void register(String consumer) {
        real.register(consumer);
    }

    @Override
    public Guarantee guarantee() {
        return real.guarantee();
    }

    @Override
    public String describe() {
        return real.describe();
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
}
