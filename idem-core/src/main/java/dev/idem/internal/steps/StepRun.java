package dev.idem.internal.steps;

import dev.idem.BrokenTransactionException;
import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.Route;
import dev.idem.StoreException;
import dev.idem.Work;
import dev.idem.internal.batch.BatchEntry;
import dev.idem.internal.batch.BatchRunner;
import dev.idem.internal.consumer.Codecs;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.unit.Backoff;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.Failures;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.ResultSize;
import dev.idem.queue.LeaseLostException;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StepStore;
import dev.idem.steps.EffectCall;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.StepMismatchException;
import dev.idem.steps.Steps;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One stored message on its way through its steps. Each step is a batch of one, with a transaction, a guard and a commit
 * like any other; what makes it a step is that its record and the proof of the lease are part of that transaction.
 *
 * <p>Why a step's effect is there once: its record is inserted under a unique name in the transaction of the effect, after the
 * message's row was locked and found to have this run's fence. Whoever takes the message over raises the fence under the
 * same lock, and reads the records after that: it finds the step, or the step can never commit.
 *
 * <p>What is wrong with the run as a whole (lease lost, steps changed, store gone, time up) condemns it: a handler that
 * swallows it comes no further, and its message is not completed. Used by one thread.
 */
final class StepRun implements Steps {
    private final InboxContext context;
    private final StepStore store;
    private final QueueStore.Taking taking;
    private final QueuedMessage message;
    private final MarkerKey ledger;
    private final ConsumerPlan consumer;
    private final Route route;
    private final StepClock clock;
    private final Thread thread = Thread.currentThread();
    private final Effects effects;
    private @Nullable StepNotes notes;
    private @Nullable String inside;
    private @Nullable Throwable condemned;
    private @Nullable Throwable ofHandler;
    private boolean unrecorded;
    private boolean toldUnknown;
    private boolean ended;

    StepRun(
            InboxContext context,
            StepStore store,
            QueueStore.Taking taking,
            QueuedMessage message,
            ConsumerPlan consumer,
            Route route) {
        this.context = context;
        this.store = store;
        this.taking = taking;
        this.message = message;
        this.ledger = consumer.keyBeyondSessions(message.message(), message.key());
        this.consumer = consumer;
        this.route = route;
        this.clock = new StepClock(context, message.key(), consumer.policy().handlerTimeout());
        this.effects = new Effects(this, context.events());
    }

    /** Calls the handler, and completes the message. Throws whatever says that it is not done. */
    <E> void run(Route.Stepwise<E> way) throws Exception {
        try {
            E event = Undecodable.decoded(way.decoder(), message.message());
            notes = new StepNotes(message.key(), inStore(this::noted), mode());
            handle(way, event);
            notes.finish();
        } catch (Throwable failure) {
            ended = true;
            boolean late = clock.finish();
            if (condemned != null && condemned != failure) {
                Failures.suppress(condemned, failure);
            }
            throw Failures.<Exception>asDeclared(condemned != null ? condemned : late ? late(failure) : failure);
        }
        ended = true;
        boolean late = clock.finish();
        if (condemned != null) {
            throw Failures.<Exception>asDeclared(condemned);
        }
        if (late) {
            throw clock.tooLate();
        }
        if (!persistently(() -> store.complete(taking, message))) {
            throw lost();
        }
    }

    private <E> void handle(Route.Stepwise<E> way, E event) throws Exception {
        try {
            way.handler().handle(event, this);
        } catch (Throwable failure) {
            ofHandler = failure;
            throw failure;
        }
    }

    /** Of a call that does not return, on another thread: nobody knows what becomes of it. Safe to repeat. */
    void writeUnknown() {
        effects.calling().ifPresent(intent -> {
            store.write(taking, message, ledger, intent.in(StepRecord.State.UNKNOWN, null));
            if (!toldUnknown) {
                toldUnknown = true;
                context.events().tell(l -> l.effectUnknown(consumer.name(), intent.name()));
            }
        });
    }

    /** Whether the handler's own code, or a call of it, has failed, whatever that looks like: it is no outage of this store. */
    boolean isOfHandler(Throwable failure) {
        return failure == ofHandler && failure != condemned;
    }

    /** Whether a call was made whose result could not be stored: the next one counts, or there would be no end of them. */
    boolean isUnrecorded() {
        return unrecorded;
    }

    /**
     * What is on record of this delivery, and of the effects of the message whoever has made them. Those that were made are not
     * made again, and about those of which nobody knows their policy decides.
     */
    private List<StepRecord> noted() {
        List<StepRecord> own = store.steps(taking, message.key());
        if (ledger.equals(message.key())) {
            return own;
        }
        Map<String, StepRecord> noted = new LinkedHashMap<>();
        own.forEach(step -> noted.put(step.name(), step));
        for (StepRecord shared : store.steps(taking, ledger)) {
            StepRecord same = noted.get(shared.name());
            if (shared.kind() == StepRecord.Kind.EFFECT && (same == null || same.kind() == StepRecord.Kind.EFFECT)) {
                noted.put(shared.name(), shared.at(same == null ? StepRecord.CLOSED : same.position()));
            }
        }
        return List.copyOf(noted.values());
    }

    private StepNotes.Mode mode() {
        if (suppressesEffects()) {
            return StepNotes.Mode.SUPPRESSING;
        }
        boolean rebuilding = message.message().replaySession().isPresent() && !ledger.equals(message.key());
        return rebuilding ? StepNotes.Mode.REBUILDING : StepNotes.Mode.ORDINARY;
    }

    private Throwable late(Throwable failure) {
        Failures.throwIfFatal(failure);
        return context.tooLate(message.key(), consumer.policy().handlerTimeout(), failure);
    }

    @Override
    public Message message() {
        return message.message();
    }

    boolean suppressesEffects() {
        return consumer.suppressesEffects(message.message());
    }

    /** Under which the effects of the message are known, whatever session brings it. */
    MarkerKey ledger() {
        return ledger;
    }

    @Override
    public String consumer() {
        return consumer.name();
    }

    String scope() {
        return consumer.scope();
    }

    @Override
    public int attempt() {
        return message.started();
    }

    ResultSize resultSize() {
        return ResultSize.of(consumer, context.store());
    }

    QueuedMessage stored() {
        return message;
    }

    @Override
    @SuppressWarnings("NullAway") // a step without a result answers null
    public <X extends Exception> void step(String name, Work.Action<X> work) throws X {
        this.<@Nullable Void, X>once(name, null, tx -> {
            work.run(tx);
            return null;
        });
    }

    @Override
    @SuppressWarnings("NullAway") // null only where the work has returned null
    public <T, X extends Exception> T step(String name, ResultCodec<T> codec, Work<T, X> work) throws X {
        return once(name, Codecs.usable(codec), work);
    }

    private <T extends @Nullable Object, X extends Exception> @Nullable T once(
            String name, @Nullable ResultCodec<T> codec, Work<T, X> work) throws X {
        StepNotes.Asked asked = ask(name, StepRecord.Kind.STEP);
        StepRecord found = asked.found();
        return found != null ? result(found, codec) : alone(asked, codec, work);
    }

    /** One transaction, run again after a deadlock or a lost connection as any other batch. */
    private <T extends @Nullable Object, X extends Exception> @Nullable T alone(
            StepNotes.Asked asked, @Nullable ResultCodec<T> codec, Work<T, X> work) throws X {
        Policy policy = consumer.policy()
                .withUnusedTransaction(Policy.UnusedTransaction.ALLOW) // its result may be all there is to it
                .withHandlerTimeout(clock.left());
        StepRecord step = StepRecord.step(asked.name(), asked.position(), message.fence());
        Delivery<T, Exception> attempt = new Delivery<>(consumer.with(policy), message.message(), work::run, codec);
        BatchEntry<T> entry = new BatchEntry<>(attempt.inStep(asked.name()), 0, Order.none());
        entry.claimable(route, new ClaimRequest(message.key(), null, Duration.ZERO, false));
        enter(asked.name());
        try {
            BatchRunner.ofStep(context.insideHandler(), open -> store.openStep(taking, message, step))
                    .settle(policy, List.of(entry));
        } finally {
            leave();
        }
        entry.attempt().tellSuppressed(context.events());
        if (entry.outcome() instanceof Outcome.Duplicate) {
            return result(ours(asked.name()), codec);
        }
        return answer(entry.outcome());
    }

    /**
     * A step that was stored after this run had begun. A commit whose answer was lost may come through while the step is
     * tried again; then it bears this run's fence. Whoever has taken the message over has a higher one.
     */
    private StepRecord ours(String name) {
        return stored(() -> store.steps(taking, message.key())).stream()
                .filter(step -> step.name().equals(name) && step.fence() == message.fence())
                .findFirst()
                .orElseThrow(this::lost);
    }

    /** Whether whoever has written an intent may be inside the call now. */
    boolean isBeingMade(StepRecord intent) {
        return stored(() -> store.isLeased(taking, intent));
    }

    private <T> T stored(Supplier<T> read) {
        try {
            return inStore(read);
        } catch (StoreException | HandlerTimeoutException failure) {
            throw condemn(failure);
        }
    }

    private <T extends @Nullable Object, X extends Exception> T answer(Outcome<T> outcome) throws X {
        if (outcome instanceof Outcome.Processed<T> processed) {
            return processed.result();
        }
        if (!(outcome instanceof Outcome.Failed<T> failed)) {
            throw lost(); // refused: somebody has moved the message
        }
        boolean ours = failed.kind() == Failure.INFRASTRUCTURE
                || failed.cause() instanceof BrokenTransactionException
                || failed.cause() instanceof HandlerTimeoutException;
        throw Failures.<RuntimeException>asDeclared(ours ? condemn(failed.cause()) : failed.cause());
    }

    @Override
    public <X extends Exception> void effect(String name, EffectCall.Action<X> call) throws X {
        effect(name, EffectPolicy.<@Nullable Void>park(), call);
    }

    @Override
    public <X extends Exception> void effect(String name, EffectPolicy<?> policy, EffectCall.Action<X> call) throws X {
        effects.make(name, policy, call);
    }

    @Override
    public <T, X extends Exception> T effect(String name, ResultCodec<T> codec, EffectCall<T, X> call) throws X {
        return effect(name, EffectPolicy.park(), codec, call);
    }

    @Override
    @SuppressWarnings("NullAway") // null only where the call has returned null
    public <T, X extends Exception> T effect(
            String name, EffectPolicy<T> policy, ResultCodec<T> codec, EffectCall<T, X> call) throws X {
        return effects.make(name, policy, Codecs.usable(codec), call);
    }

    /** Whatever a handler asks for begins here. */
    StepNotes.Asked ask(String name, StepRecord.Kind kind) {
        if (ended || Thread.currentThread() != thread) {
            throw new IllegalStateException("The steps of " + message.key()
                    + " can be used on the handler's thread only, until the handler returns");
        }
        if (inside != null) {
            throw new NestedProcessingException(
                    "Refused to begin " + name + " inside " + inside + ": do one after the other", null);
        }
        if (condemned != null) {
            throw Failures.<RuntimeException>asDeclared(condemned);
        }
        try {
            return Objects.requireNonNull(notes, "notes").ask(name, kind);
        } catch (StepMismatchException changed) {
            throw condemn(changed);
        }
    }

    <T extends @Nullable Object> @Nullable T result(StepRecord found, @Nullable ResultCodec<T> codec) {
        try {
            return Objects.requireNonNull(notes, "notes").result(found, codec);
        } catch (StepMismatchException changed) {
            throw condemn(changed);
        }
    }

    /** Marks that a step or a call is running. */
    void begin(String name) {
        inside = name;
    }

    void end() {
        inside = null;
    }

    private void enter(String name) {
        timely(clock::enter);
        begin(name);
    }

    private void leave() {
        end();
        clock.leave();
    }

    private void timely(Runnable entering) {
        try {
            entering.run();
        } catch (HandlerTimeoutException late) {
            throw condemn(late);
        }
    }

    /** Writes what is about to be done; not when the time is up. False when another delivery of the message was faster. */
    boolean intend(StepRecord intent, @Nullable StepRecord found) {
        timely(clock::enter);
        StepStore.Intended[] answer = new StepStore.Intended[1];
        keep(() -> {
            answer[0] = store.intend(taking, message, ledger, intent, found);
            return answer[0] != StepStore.Intended.LEASE_LOST;
        });
        return answer[0] == StepStore.Intended.STORED;
    }

    /** Writes what is known of a call that was made, even when the time is up. */
    void writeEvenLate(StepRecord effect) {
        clock.enterEvenLate();
        unrecorded = true;
        keep(() -> store.write(taking, message, ledger, effect));
        unrecorded = false;
    }

    /** Writes that this delivery goes no further, of a call about which it has learned nothing. */
    void noteEvenLate(StepRecord effect) {
        clock.enterEvenLate();
        keep(() -> store.write(taking, message, message.key(), effect));
    }

    void eraseEvenLate(String name) {
        clock.enterEvenLate();
        keep(() -> store.erase(taking, message, ledger, name));
    }

    private void keep(Supplier<Boolean> write) {
        boolean held;
        try {
            held = persistently(write);
        } catch (StoreException outage) {
            throw condemn(outage);
        } finally {
            clock.leave();
        }
        if (!held) {
            throw lost();
        }
    }

    private <T> T inStore(Supplier<T> body) {
        clock.enter();
        try {
            return persistently(body);
        } finally {
            clock.leave();
        }
    }

    /** Every one of them may be repeated. An interrupt waits, see {@link StepClock}. */
    private <T> T persistently(Supplier<T> body) {
        boolean interrupted = Thread.interrupted();
        Backoff backoff = new Backoff(consumer.policy().maxRuns());
        try {
            while (true) {
                try {
                    return body.get();
                } catch (StoreException outage) {
                    if (!backoff.hasNext()) {
                        throw outage;
                    }
                    backoff.pause();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private LeaseLostException lost() {
        return condemn(new LeaseLostException(
                message.key() + " belongs to another worker now, or was moved by a person: nothing more is recorded"));
    }

    <F extends Throwable> F condemn(F failure) {
        condemned = failure;
        return failure;
    }
}
