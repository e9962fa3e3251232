package dev.idem.internal.batch;

import dev.idem.BrokenTransactionException;
import dev.idem.Failure;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Route;
import dev.idem.internal.consumer.BusyStreams;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.Verdict;
import dev.idem.spi.Batch;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One message of a batch: what it is, and what is known of it so far. Used by one thread. */
public final class BatchEntry<T extends @Nullable Object> {
    private final Delivery<T, Exception> attempt;
    private final int position;
    private final Order order;
    private @Nullable Route route;
    private @Nullable ClaimRequest request;
    private @Nullable Outcome<T> kept;
    private @Nullable StoredResult stored;
    private @Nullable String granted;
    private @Nullable Batch transaction;
    private @Nullable String sent;
    private @Nullable Outcome<T> outcome;
    private Duration pause = BusyStreams.SHORTEST;
    private @Nullable String left;
    private @Nullable BrokenTransactionException hidden;

    public BatchEntry(Delivery<T, Exception> attempt, int position, Order order) {
        this.attempt = attempt;
        this.position = position;
        this.order = order;
    }

    /** It has a handler and a key, so it can be claimed. */
    public void claimable(Route way, ClaimRequest claim) {
        route = way;
        request = claim;
    }

    public Delivery<T, Exception> attempt() {
        return attempt;
    }

    public Message message() {
        return attempt.message();
    }

    Route route() {
        return Objects.requireNonNull(route, "not claimable");
    }

    public ClaimRequest request() {
        return Objects.requireNonNull(request, "not claimable");
    }

    public MarkerKey key() {
        return request().key();
    }

    public boolean isOpen() {
        return outcome == null;
    }

    public Outcome<T> outcome() {
        if (outcome == null) {
            throw new IllegalStateException(key() + " has no outcome yet");
        }
        return outcome;
    }

    public void settle(Outcome<T> last) {
        outcome = last;
        order.settled(message(), position, last);
    }

    /** Gives it the outcome of another one with the same key, of whatever type that one's result is. */
    @SuppressWarnings("unchecked") // only outcomes without a result are shared
    void settleLike(BatchEntry<?> first) {
        settle((Outcome<T>) first.outcome());
    }

    /** More is known of it than when it was settled. */
    void known(Outcome<T> more) {
        outcome = more;
    }

    /** Another transaction has what this one needs: it comes again after a while. */
    void busyFor(Duration length) {
        pause = length;
        settle(new Outcome.Busy<>());
    }

    /** Another instance may know how to handle it: it comes again after a while. */
    public void leaveToOthers(Duration length, String why) {
        left = why;
        busyFor(length);
    }

    /** Why it is left to another instance, if it is. */
    @Nullable
    public String left() {
        return left;
    }

    public Duration pause() {
        return pause;
    }

    public void fail(Failure kind, Throwable cause) {
        settle(new Outcome.Failed<>(kind, cause));
    }

    /** Whether a message before it, of the same ordering key, must come again. */
    boolean isBehind() {
        return order.isBlocked(message(), position);
    }

    /** Of a stored message that has a sequence the row is held, and released when the one before it is applied. */
    void hold() {
        ConsumerPlan consumer = attempt.consumer();
        settle(new Outcome.Held<>(OptionalLong.empty(), consumer.isSequenced() && consumer.isQueued()));
    }

    void granted(Batch batch) {
        transaction = batch;
        granted = batch.claimId(key());
        kept = null;
    }

    void run(UnitOfWork unit, MarkerStore store) throws Exception {
        T result = attempt.handle(unit, key());
        stored = attempt.stored(result, store);
        kept = attempt.done(result);
    }

    /** Handled together with others, which leaves no result. */
    @SuppressWarnings("NullAway") // entries of a batch handler have no result
    void ranTogether() {
        kept = attempt.done(null);
    }

    @Nullable
    StoredResult stored() {
        return stored;
    }

    /** Whether its work is part of the running transaction. */
    boolean isKept() {
        return outcome == null && kept != null;
    }

    void committing() {
        sent = granted;
    }

    /** Whether its work was part of the last transaction for which a commit was sent. */
    boolean isSent() {
        return sent != null && sent.equals(granted);
    }

    void processed() {
        if (kept != null) {
            settle(kept);
        }
    }

    /**
     * After a failure: the marker that was read is the one of the failed run, so a handler of its transaction had committed,
     * and the next delivery would be taken for a duplicate.
     */
    void foundAfterFailure(Marker marker) {
        if (marker.claimId().equals(granted) && !isSent()) {
            taken(marker);
        }
    }

    /** The transaction in which it was granted last. */
    @Nullable
    Batch transaction() {
        return transaction;
    }

    /** Why it failed, if it failed in a transaction of which nobody has found out that it was committed all the same. */
    Optional<Throwable> failure() {
        return outcome instanceof Outcome.Failed<?> failed && transaction != null && hidden == null && !isSent()
                ? Optional.of(failed.cause())
                : Optional.empty();
    }

    /** Says that its transaction was found committed although nobody had sent the commit, if it was. */
    Optional<BrokenTransactionException> hiddenCommit() {
        return Optional.ofNullable(hidden);
    }

    /** A marker was read. After a lost answer, one that carries our own claim is our own commit. */
    void taken(Marker marker) {
        boolean ours = marker.claimId().equals(granted);
        if (ours && !marker.claimId().equals(sent)) {
            hidden = BrokenTransactionException.hiddenCommit(key(), null);
            fail(Failure.TERMINAL, hidden);
        } else if (ours && kept != null) {
            settle(kept);
        } else {
            settle(Verdict.of(key(), request().fingerprint(), marker, attempt));
        }
    }
}
