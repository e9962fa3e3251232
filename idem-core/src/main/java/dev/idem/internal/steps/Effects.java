package dev.idem.internal.steps;

import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.ResultCodec;
import dev.idem.TerminalException;
import dev.idem.internal.consumer.Codecs;
import dev.idem.internal.event.Events;
import dev.idem.internal.text.Text;
import dev.idem.internal.unit.Failures;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StoredResult;
import dev.idem.steps.EffectAnswer;
import dev.idem.steps.EffectBusyException;
import dev.idem.steps.EffectCall;
import dev.idem.steps.EffectKey;
import dev.idem.steps.EffectNotDoneException;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.EffectSuppressedException;
import dev.idem.steps.EffectUnknownException;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes effects outside the database. The intent is durable before the call and the result after it, both written under
 * the lease; so whoever finds an intent of a run before knows that a call may have been made, and nothing else does:
 *
 * <pre>
 *   nothing ──► INTENT ──► call ──► DONE          answered from then on, never called again
 *      ▲          │          ├────► UNKNOWN       the call failed; or INTENT stays, when the process died or lost its lease
 *      └──────────┴──────────┘                    EffectNotDoneException of the first call: surely nothing was done
 * </pre>
 *
 * Replay sessions deliver a message under other keys. Its effects are looked up, and written, under one that all its deliveries
 * share; an intent is stored only in place of what was looked up, so of two deliveries one makes the call. While the lease holds
 * under which an intent was written, its call may still be on its way: the other delivery comes again later, and decides nothing.
 *
 * <p>The key is stored with the intent and used in every further call, whatever has been renamed since. Used by one thread.
 */
final class Effects {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final StepRun run;
    private final Events events;
    private volatile @Nullable StepRecord calling;

    Effects(StepRun run, Events events) {
        this.run = run;
        this.events = events;
    }

    /** The intent of the call that is under way, as seen from another thread. */
    Optional<StepRecord> calling() {
        return Optional.ofNullable(calling);
    }

    /** A replay does not make them, unless the policy wants that. */
    private boolean areAllowed() {
        return !run.suppressesEffects();
    }

    @SuppressWarnings("NullAway") // an effect without a result answers null
    <X extends Exception> void make(String name, EffectPolicy<?> policy, EffectCall.Action<X> call) throws X {
        StepNotes.Asked asked = run.ask(name, StepRecord.Kind.EFFECT);
        if (!isDone(asked) && !isSuppressed(name)) {
            this.<@Nullable Object, X>unlessDone(asked, widened(policy), null, key -> {
                call.call(key);
                return null;
            });
        }
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // results of effects without one are neither stored nor answered
    private static EffectPolicy<@Nullable Object> widened(EffectPolicy<?> policy) {
        return (EffectPolicy<@Nullable Object>) policy;
    }

    <T, X extends Exception> @Nullable T make(
            String name, EffectPolicy<T> policy, ResultCodec<T> codec, EffectCall<T, X> call) throws X {
        StepNotes.Asked asked = run.ask(name, StepRecord.Kind.EFFECT);
        if (isDone(asked)) {
            return run.result(Objects.requireNonNull(asked.found()), codec);
        }
        if (isSuppressed(name)) {
            return policy.suppressed()
                    .orElseThrow(() -> run.condemn(new EffectSuppressedException(run.stored()
                                    .key() + ": effect "
                            + name + " is not made in replay session "
                            + Text.printable(run.message().replaySession().orElse(""))
                            + ", and has no stored result; say what stands for it with withWhenSuppressed")));
        }
        return unlessDone(asked, policy, codec, call);
    }

    private static boolean isDone(StepNotes.Asked asked) {
        return asked.found() != null && asked.found().state() == StepRecord.State.DONE;
    }

    private boolean isSuppressed(String name) {
        if (areAllowed()) {
            return false;
        }
        events.tell(l -> l.effectSuppressed(run.consumer(), name));
        return true;
    }

    private <T extends @Nullable Object, X extends Exception> T unlessDone(
            StepNotes.Asked asked, EffectPolicy<T> policy, @Nullable ResultCodec<T> codec, EffectCall<T, X> call)
            throws X {
        StepRecord found = asked.found();
        EffectKey key = key(asked, policy);
        StepRecord intent = StepRecord.intent(
                asked.name(), asked.position(), key.fence(), key.value(), codec == null ? null : codec.name());
        boolean surelyNew = found == null;
        if (found != null && found.state() == StepRecord.State.INTENT && run.isBeingMade(found)) {
            throw busy(asked.name());
        }
        if (found != null) {
            events.tell(l -> l.effectUnknown(run.consumer(), asked.name()));
            switch (policy.whenUnknown()) {
                case PARK -> throw unknown(intent, true);
                case ASK -> {
                    EffectAnswer<T> answer = ask(asked.name(), policy.reconciler(), key);
                    if (answer instanceof EffectAnswer.Done<T> done) {
                        return done(intent, codec, done.result());
                    }
                    if (answer instanceof EffectAnswer.Unknown<T>) {
                        throw unknown(intent, false);
                    }
                    surelyNew = true; // whatever was called before was not done, and will not be
                }
                case RETRY ->
                    log.debug("{}: effect {} is called again", run.stored().key(), asked.name());
            }
        }
        if (!run.intend(intent, found)) {
            throw busy(asked.name());
        }
        return called(intent, key, surelyNew, codec, call);
    }

    private EffectBusyException busy(String name) {
        return run.condemn(new EffectBusyException(run.stored().key() + ": effect " + name
                + " is being made, or was settled, for another delivery of this message"));
    }

    private EffectKey key(StepNotes.Asked asked, EffectPolicy<?> policy) {
        long fence = run.stored().fence();
        String stored = asked.found() == null ? null : asked.found().effectKey();
        return stored != null
                ? new EffectKey(stored, fence)
                : EffectKeys.of(policy.scope(run.scope()), run.ledger(), asked.name(), fence);
    }

    private <T extends @Nullable Object> EffectAnswer<T> ask(
            String name, EffectPolicy.Reconciler<T> reconciler, EffectKey key) {
        run.begin(name);
        try {
            return reconciler.ask(key);
        } catch (Exception failure) {
            throw Failures.<RuntimeException>asDeclared(failure);
        } finally {
            run.end();
        }
    }

    private EffectUnknownException unknown(StepRecord effect, boolean parks) {
        run.noteEvenLate(effect.in(StepRecord.State.UNKNOWN, null));
        return run.condemn(new EffectUnknownException(
                run.stored().key() + ": nobody knows whether effect " + effect.name() + " with key "
                        + effect.effectKey() + " was made"
                        + (parks
                                ? "; ask the provider, then say it: idem inbox effect"
                                : ", and the provider cannot say"),
                parks));
    }

    private <T extends @Nullable Object, X extends Exception> T called(
            StepRecord intent, EffectKey key, boolean surelyNew, @Nullable ResultCodec<T> codec, EffectCall<T, X> call)
            throws X {
        T result;
        run.begin(intent.name());
        calling = intent;
        try {
            result = call.call(key);
        } catch (EffectNotDoneException nothing) {
            // It speaks of this call alone. What a call before has done is as unknown as it was.
            after(nothing, surelyNew ? () -> run.eraseEvenLate(intent.name()) : () -> unknownAfterCall(intent));
            throw nothing;
        } catch (Throwable failure) {
            Failures.throwIfFatal(failure);
            events.tell(l -> l.effectUnknown(run.consumer(), intent.name()));
            after(failure, () -> unknownAfterCall(intent));
            throw failure;
        } finally {
            calling = null;
            run.end();
        }
        return done(intent, codec, result);
    }

    private void unknownAfterCall(StepRecord intent) {
        run.writeEvenLate(intent.in(StepRecord.State.UNKNOWN, null));
    }

    /** The call's own exception is what the handler sees; the run is condemned if the store cannot follow. */
    private static void after(Throwable failure, Runnable write) {
        try {
            write.run();
        } catch (IdemException secondary) {
            Failures.suppress(failure, secondary);
        }
    }

    private <T extends @Nullable Object> T done(StepRecord intent, @Nullable ResultCodec<T> codec, T result) {
        StoredResult kept;
        try {
            kept = codec == null ? null : run.resultSize().checked(Codecs.encoded(codec, result));
        } catch (IdemException
                | TerminalException
                        unkeepable) { // a person can tell what it was; another call could only be one too many
            unknownAfterCall(intent);
            throw run.condemn(new EffectUnknownException(
                    run.stored().key() + ": effect " + intent.name() + " with key " + intent.effectKey()
                            + " was made, but its result cannot be kept. " + unkeepable.getMessage(),
                    true));
        }
        run.writeEvenLate(intent.in(StepRecord.State.DONE, kept));
        return result;
    }
}
