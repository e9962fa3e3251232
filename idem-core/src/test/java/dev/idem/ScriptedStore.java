package dev.idem;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLTransientException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store that answers claims from a script, and writes down every call that reaches it or one of its units. */
public final class ScriptedStore implements MarkerStore.Joinable {
    public static final Instant DONE_AT = Instant.parse("2026-01-02T03:04:05Z");

    public final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    final List<String> retained = Collections.synchronizedList(new ArrayList<>());
    final List<String> admitted = Collections.synchronizedList(new ArrayList<>());
    final List<ClaimRequest> requests = Collections.synchronizedList(new ArrayList<>());
    public volatile @Nullable String open;
    public volatile @Nullable String beside;
    public volatile boolean same = true;
    private final Queue<Function<ClaimRequest, Claim>> script = new ConcurrentLinkedQueue<>();

    ScriptedStore then(Function<ClaimRequest, Claim> answer) {
        script.add(answer);
        return this;
    }

    /** Grants the next claim; its id is given, so that a script can tell its own marker from another's. */
    public ScriptedUnit thenGrant(String claimId) {
        ScriptedUnit unit = new ScriptedUnit(claimId, calls);
        then(request -> new Claim.Granted(unit));
        return unit;
    }

    public ScriptedStore thenTakenBy(String claimId) {
        return then(r -> new Claim.Taken(new Marker(r.key().readable(), r.fingerprint(), DONE_AT, claimId, null)));
    }

    public ScriptedStore thenBusy() {
        return then(request -> new Claim.Busy());
    }

    public ScriptedStore thenFail(RuntimeException failure) {
        return then(request -> {
            throw failure;
        });
    }

    @Override
    public Claim claim(ClaimRequest request) {
        calls.add("claim");
        requests.add(request);
        Function<ClaimRequest, Claim> answer = script.poll();
        if (answer == null) {
            throw new IllegalStateException("the script has no answer left");
        }
        return answer.apply(request);
    }

    @Override
    public Claim claimWithin(Connection outer, ClaimRequest request) {
        return claim(request);
    }

    @Override
    public void rollbackOnly(Connection outer) {
        calls.add("rollback only");
    }

    @Override
    public Optional<String> openBeside(Connection outer) {
        return Optional.ofNullable(beside);
    }

    @Override
    public boolean isSame(Connection one, Connection other) {
        return same;
    }

    @Override
    public Optional<String> openHere() {
        return Optional.ofNullable(open);
    }

    @Override
    public Guarantee guarantee() {
        return Guarantee.WITHIN_PROCESS;
    }

    @Override
    public String describe() {
        return "scripted";
    }

    @Override
    public void register(String consumer) {
        calls.add("register " + consumer);
    }

    @Override
    public void admit(String consumer, boolean timeOrdered) {
        admitted.add(consumer + " " + timeOrdered);
    }

    @Override
    public void retain(String consumer, Retention retention) {
        retained.add(consumer + " " + retention.window() + " " + retention.resultWindow());
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return failure instanceof SQLTransientException;
    }

    @Override
    public boolean isConnectionLost(Throwable failure) {
        return failure instanceof SQLTransientConnectionException
                || (failure.getCause() instanceof SQLException sql && "08001".equals(sql.getSQLState()));
    }

    @Override
    public void close() {
        calls.add("close store");
    }
}
