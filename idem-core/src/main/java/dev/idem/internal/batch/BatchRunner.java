package dev.idem.internal.batch;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.internal.key.KeyGate;
import dev.idem.internal.outbox.Publication;
import dev.idem.internal.unit.Backoff;
import dev.idem.internal.unit.Failures;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.UnknownCommits;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.TransientStoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles messages that share a transaction. What is proven of one message is kept for good (its marker was read, its
 * handler failed); whatever is still open when the transaction is lost is claimed again, without those. When the
 * transaction as a whole is refused and nobody knows for whose sake, the two halves go separate ways, until the guilty
 * message stands alone. So every way through ends, and the innocent are applied.
 */
public final class BatchRunner {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final InboxContext context;
    private final Claiming claiming;
    private final BatchRun.Recording recording;
    private final boolean looksAfterFailures;

    /** At the door. */
    public BatchRunner(InboxContext context, Claiming claiming) {
        this(context, claiming, new BatchRun.NoRecording(), true);
    }

    /** For stored messages. */
    public BatchRunner(InboxContext context, Claiming claiming, BatchRun.Recording recording) {
        this(context, claiming, recording, false);
    }

    private BatchRunner(
            InboxContext context, Claiming claiming, BatchRun.Recording recording, boolean looksAfterFailures) {
        this.context = context;
        this.claiming = claiming;
        this.recording = recording;
        this.looksAfterFailures = looksAfterFailures;
    }

    /** For a step, inside the time of its message's handler. */
    public static BatchRunner ofStep(InboxContext context, Claiming claiming) {
        return new BatchRunner(context, claiming, new BatchRun.NoRecording(), false);
    }

    /** Gives each entry its outcome; the keys differ. Answers why the store could not, if it could not. */
    @Nullable
    public Throwable settle(Policy policy, List<BatchEntry<?>> entries) {
        context.nesting().enterAll(entries.stream().map(BatchEntry::key).toList());
        Throwable outage;
        try {
            outage = throughGate(policy, entries);
        } catch (Throwable failure) { // an interrupt between two runs, say; what was settled before stays so
            Failures.throwIfFatal(failure);
            outage = outage(entries, failure);
        } finally {
            context.nesting().leaveAll();
        }
        context.outboxes().committed(published(entries));
        return outage;
    }

    private static List<Publication> published(List<BatchEntry<?>> entries) {
        return entries.stream()
                .filter(entry -> entry.outcome() instanceof Outcome.Processed)
                .flatMap(entry -> entry.attempt().published().stream())
                .toList();
    }

    /** Twins in this process are not waited for: the others of the batch would wait with it. */
    private @Nullable Throwable throughGate(Policy policy, List<BatchEntry<?>> entries) {
        List<KeyGate.Pass> passes = new ArrayList<>(entries.size());
        try {
            for (BatchEntry<?> entry : entries) {
                Optional<KeyGate.Pass> pass = context.gate().enterNow(entry.key());
                if (pass.isPresent()) {
                    passes.add(pass.get());
                } else {
                    entry.settle(new Outcome.Busy<>());
                }
            }
            return withPermit(policy, entries);
        } finally {
            passes.forEach(KeyGate.Pass::close);
        }
    }

    private @Nullable Throwable withPermit(Policy policy, List<BatchEntry<?>> entries) {
        context.permits().acquire("a batch");
        try {
            Throwable outage = untilSettled(policy, entries);
            if (outage == null && looksAfterFailures) {
                lookAfterFailures(entries);
            }
            entries.forEach(entry ->
                    entry.hiddenCommit().ifPresent(hidden -> Failures.reported(context.events(), entry.key(), hidden)));
            return outage;
        } finally {
            context.permits().release();
        }
    }

    /**
     * A connection that is torn down or lost takes along who had committed on it before. For messages that are open the next
     * claim tells. Those that have failed are claimed once more to know: if their markers are there, their next delivery
     * would be taken for a duplicate.
     */
    private void lookAfterFailures(List<BatchEntry<?>> entries) {
        Set<Batch> uncertain = Collections.newSetFromMap(new IdentityHashMap<>());
        for (BatchEntry<?> entry : entries) {
            if (entry.hiddenCommit().isPresent()
                    || entry.failure().filter(this::leavesOpen).isPresent()) {
                uncertain.add(entry.transaction());
            }
        }
        List<BatchEntry<?>> failed = entries.stream()
                .filter(entry -> entry.failure().isPresent() && uncertain.contains(entry.transaction()))
                .toList();
        if (failed.isEmpty()) {
            return;
        }
        try (Batch look = claiming.claim(failed)) {
            failed.forEach(entry -> {
                if (look.refused().get(entry.key()) instanceof Claim.Taken taken) {
                    entry.foundAfterFailure(taken.marker());
                }
            });
        } catch (RuntimeException away) { // each has its outcome already
            log.debug(
                    "{}: what became of a lost transaction cannot be seen",
                    failed.get(0).key(),
                    away);
        }
    }

    /** Whether nobody could ask what became of the transaction, after such a failure of a handler. */
    private boolean leavesOpen(Throwable failure) {
        return failure instanceof HandlerTimeoutException || context.store().isConnectionLost(failure);
    }

    private @Nullable Throwable untilSettled(Policy policy, List<BatchEntry<?>> entries) {
        Backoff backoff = new Backoff(policy.maxRuns());
        @Nullable CommitUnknownException unknown = null;
        while (true) {
            List<BatchEntry<?>> open = open(entries);
            if (open.isEmpty()) {
                return null;
            }
            try {
                runOnce(open, unknown);
            } catch (HiddenCommitException hidden) {
                accountFor(hidden, open);
            } catch (BrokenTransactionException | CommitRefusedException whole) {
                return apart(policy, open(open), whole);
            } catch (Inseparable whole) {
                return apart(policy, open(open), whole.failure());
            } catch (CommitUnknownException lost) {
                context.events().tell(l -> l.commitUnknown(open.get(0).key().consumer(), lost));
                unknown = lost;
                List<BatchEntry<?>> sent = open(open);
                if (sent.size() == 1) {
                    context.losses().unknown(sent.get(0).key(), lost);
                }
                if (!again(open, backoff, lost) && !lost.answered()) {
                    return policy.maxRuns() == 1 ? outage(sent, lost) : apart(policy, sent, lost);
                }
            } catch (TransientStoreException away) {
                if (!again(open, backoff, away)) {
                    return outage(open, away);
                }
            } catch (UndoneBatch undone) { // one that always meets a deadlock, say, must not fail the others for ever
                List<BatchEntry<?>> culprits = open(undone.culprits());
                if (culprits.size() == 1 && isToBlame(culprits.get(0), undone.failure())) {
                    fail(
                            culprits.get(0),
                            UnknownCommits.endedConnection(culprits.get(0).key(), undone.failure()));
                    backoff = new Backoff(policy.maxRuns());
                } else if (!again(open, backoff, undone.failure())) {
                    if (culprits.size() > 1) {
                        return apart(policy, open(open), undone.failure());
                    }
                    outage(culprits, undone.failure());
                    backoff = new Backoff(policy.maxRuns());
                }
            } catch (RuntimeException failure) {
                return outage(open, failure);
            }
        }
    }

    private boolean isToBlame(BatchEntry<?> entry, Throwable failure) {
        return context.store().isConnectionLost(failure) && context.losses().undone(entry.key());
    }

    /**
     * A key that is granted although a commit was sent for it proves that the whole commit was undone. True when the only
     * one that is granted must not run again.
     *
     * @throws CommitRefusedException when there are several, and one of them must be to blame
     */
    private boolean isRefused(List<BatchEntry<?>> open, Batch batch, @Nullable CommitUnknownException unknown) {
        if (unknown == null && context.losses().isEmpty()) {
            return false;
        }
        Map<MarkerKey, Claim> refused = batch.refused();
        List<BatchEntry<?>> granted =
                open.stream().filter(entry -> !refused.containsKey(entry.key())).toList();
        if (granted.size() == 1) {
            BatchEntry<?> one = granted.get(0);
            CommitRefusedException why = context.losses().granted(one.key());
            if (why != null) {
                fail(one, why);
            }
            return why != null;
        }
        if (unknown != null && unknown.answered() && granted.stream().anyMatch(BatchEntry::isSent)) {
            throw UnknownCommits.undoneCommit("a batch with " + granted.get(0).key(), unknown);
        }
        return false;
    }

    private void runOnce(List<BatchEntry<?>> open, @Nullable CommitUnknownException unknown) {
        MarkerKey first = open.get(0).key();
        context.outboxes().ready(open.get(0).attempt().consumer());
        context.steps().at(FaultPoint.BEFORE_CLAIM, first);
        Batch batch = context.losses().asked(context.store(), () -> claiming.claim(open));
        try (BatchRun run = new BatchRun(context, batch, recording)) {
            context.steps().at(FaultPoint.AFTER_CLAIM, first);
            if (isRefused(open, batch, unknown)) {
                return;
            }
            run.run(open);
        }
        open.stream()
                .filter(entry -> !entry.isOpen())
                .forEach(entry -> context.losses().forget(entry.key()));
        context.steps().at(FaultPoint.BEFORE_SETTLEMENT, first);
    }

    /** Nobody knows whose fault it is, so each half gets a transaction of its own. */
    private @Nullable Throwable apart(Policy policy, List<BatchEntry<?>> open, Throwable whole) {
        if (open.size() == 1) {
            BatchEntry<?> guilty = open.get(0);
            if (whole instanceof BrokenTransactionException broken) {
                Failures.reported(context.events(), guilty.key(), broken);
            }
            fail(guilty, whole);
            return null;
        }
        int middle = open.size() / 2;
        Throwable outage = untilSettled(policy, open.subList(0, middle));
        return outage != null ? outage(open, outage) : untilSettled(policy, open.subList(middle, open.size()));
    }

    private void fail(BatchEntry<?> guilty, Throwable failure) {
        guilty.fail(context.kindOf(failure, guilty.attempt()), failure);
    }

    private void accountFor(HiddenCommitException hidden, List<BatchEntry<?>> open) {
        for (BatchEntry<?> entry : open) {
            if (hidden.done().contains(entry.key())) {
                entry.processed();
            } else if (hidden.culprits().contains(entry.key())) {
                entry.fail(
                        Failure.TERMINAL,
                        Failures.reported(
                                context.events(),
                                entry.key(),
                                BrokenTransactionException.hiddenCommit(entry.key(), hidden)));
            }
        }
    }

    private static Throwable outage(List<BatchEntry<?>> entries, Throwable failure) {
        for (BatchEntry<?> entry : open(entries)) {
            entry.fail(Failure.INFRASTRUCTURE, failure);
        }
        return failure;
    }

    private boolean again(List<BatchEntry<?>> open, Backoff backoff, Throwable cause) {
        if (!backoff.hasNext()) {
            return false;
        }
        BatchEntry<?> first = open.get(0);
        int nextRun = first.attempt().runs() + 1;
        context.events().tell(l -> l.ranAgain(first.key().consumer(), nextRun, cause));
        // Its type only: drivers quote values of a failed batch in their messages.
        log.debug("{}: batch of {} undone by {}, runs again", first.key(), open.size(), cause.getClass());
        context.steps().at(FaultPoint.BEFORE_RETRY, first.key());
        backoff.pause();
        return true;
    }

    private static List<BatchEntry<?>> open(List<BatchEntry<?>> entries) {
        return entries.stream().filter(BatchEntry::isOpen).toList();
    }

    /** How the entries are claimed: by their keys, or by their positions. */
    @FunctionalInterface
    public interface Claiming {
        Batch claim(List<BatchEntry<?>> entries);
    }
}
