package dev.idem;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Unit;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** Claims and runs inside somebody else's transaction: no retry, no commit, no waiting in this process. */
final class OuterInbox implements JoinedInbox {
    private final MarkerStore.Joinable store;
    private final Connection outer;
    private final Nesting nesting;
    private final Events events;

    OuterInbox(MarkerStore.Joinable store, Connection outer, Nesting nesting, Events events) {
        this.store = store;
        this.outer = outer;
        this.nesting = nesting;
        this.events = events;
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X {
        Attempt<T, X> attempt = new Attempt<>(consumer, message, work, null);
        if (attempt.select() instanceof Selection.Parts parts) {
            return keyed(attempt, KeyEncoding.encode(consumer.name(), parts));
        }
        Selection.Unusable unusable = (Selection.Unusable) attempt.select();
        return reported(attempt, new Outcome.Rejected<>(unusable.reason(), unusable.detail()), () -> {});
    }

    private <T extends @Nullable Object, X extends Exception> Provisional<T> keyed(Attempt<T, X> attempt, MarkerKey key)
            throws X {
        nesting.enterJoined(key);
        try {
            ClaimRequest request = new ClaimRequest(
                    key, attempt.fingerprint(), attempt.policy().busyWait(), false);
            Claim claim = store.claimWithin(outer, request);
            if (claim instanceof Claim.Taken taken) {
                return reported(
                        attempt, Verdict.of(key, request.fingerprint(), taken.marker(), attempt.codec()), () -> {});
            }
            if (claim instanceof Claim.Busy) {
                return reported(attempt, new Outcome.Busy<>(), () -> {});
            }
            Unit unit = ((Claim.Granted) claim).unit();
            T result = handle(attempt, unit);
            return reported(attempt, new Outcome.Processed<>(result), () -> unit.commit(null));
        } finally {
            nesting.leave();
        }
    }

    private static <T extends @Nullable Object, X extends Exception> T handle(Attempt<T, X> attempt, Unit unit)
            throws X {
        try {
            T result = attempt.handle(unit);
            unit.revoke();
            return result;
        } catch (Throwable failure) {
            try {
                unit.rollback();
            } catch (RuntimeException secondary) {
                failure.addSuppressed(secondary);
            }
            throw failure;
        }
    }

    private <T extends @Nullable Object> Provisional<T> reported(
            Attempt<T, ?> attempt, Outcome<T> outcome, Runnable confirmation) {
        attempt.report(events, outcome);
        return new Provisional<>(outcome, confirmation);
    }
}
