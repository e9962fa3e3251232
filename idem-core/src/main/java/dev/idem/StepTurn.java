package dev.idem;

import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Handles leased messages of which some go step by step: these one after the other, the others together. Used once. */
final class StepTurn {
    private final Engine engine;
    private final StepStore store;
    private final QueueStore.Taking taking;
    private final Consumer consumer;
    private final Bells.Bell bell;
    private final List<QueueChange> owed;
    private final BooleanSupplier stopping;
    private final Settling settling;

    /** @param owed gets the changes that could not be made, to be made later */
    StepTurn(
            Engine engine,
            QueueStore store,
            QueueStore.Taking taking,
            Consumer consumer,
            Bells.Bell bell,
            List<QueueChange> owed,
            BooleanSupplier stopping) {
        this.engine = engine;
        this.store = (StepStore) store; // who has none was refused when its workers were started
        this.taking = taking;
        this.consumer = consumer;
        this.bell = bell;
        this.owed = owed;
        this.stopping = stopping;
        this.settling = new Settling(consumer.queue().orElseThrow(), true);
    }

    /** What handles messages without steps; answers why the store could not, if it could not. */
    @FunctionalInterface
    interface Others {
        @Nullable
        Throwable run(List<QueuedMessage> messages);
    }

    /** Answers why the store could not, if it could not. What was not begun by then is given back. */
    @Nullable
    Throwable run(List<QueuedMessage> leased, Others others) {
        Deque<QueuedMessage> stepwise = new ArrayDeque<>();
        List<QueuedMessage> rest = new ArrayList<>();
        leased.forEach(message -> (route(message) == null ? rest : stepwise).add(message));
        try {
            @Nullable Throwable outage = rest.isEmpty() ? null : others.run(rest);
            while (outage == null && !stepwise.isEmpty() && !stopping.getAsBoolean()) {
                outage = handle(stepwise.remove());
            }
            return outage;
        } finally {
            stepwise.forEach(
                    message -> owed.add(new QueueChange(message, QueueMove.GIVE_BACK, Duration.ZERO, "", null)));
        }
    }

    private Route.@Nullable Stepwise<?> route(QueuedMessage message) {
        return message.unreadable() == null
                        && consumer.route(message.message()).orElse(null) instanceof Route.Stepwise<?> stepwise
                ? stepwise
                : null;
    }

    private @Nullable Throwable handle(QueuedMessage message) {
        BatchEntry<?> entry = new BatchEntry<>(Attempt.without(consumer, message.message()), 0, Order.none());
        long start = System.nanoTime();
        @Nullable Throwable outage = null;
        try {
            Keyed.Turned turned = engine.sessions().judge(consumer, message);
            if (turned != null) { // its session was aborted since it was stored, or the policy has changed
                entry.settle(turned.outcome());
            } else {
                run(message, entry);
            }
        } catch (LeaseLostException lost) {
            entry.settle(new Outcome.Busy<>());
        } catch (Undecodable undecodable) {
            entry.settle(undecodable.outcome());
        } catch (Throwable failure) {
            Failure kind = Failures.kindOf(Failures.unlessFatal(failure), consumer.policy(), engine.store());
            entry.fail(kind, failure);
            outage = failure instanceof StoreException ? failure : null;
        }
        entry.attempt().ranTogether(System.nanoTime() - start);
        entry.attempt().report(engine.events(), entry.outcome());
        record(message, entry);
        return outage;
    }

    @SuppressWarnings("NullAway") // a handler with steps has no result
    private <T extends @Nullable Object> void run(QueuedMessage message, BatchEntry<T> entry) throws Exception {
        Route.Stepwise<?> route = Objects.requireNonNull(route(message));
        new StepRun(engine, store, taking, message, consumer, route).run(route);
        entry.settle(new Outcome.Processed<>(null));
    }

    private void record(QueuedMessage message, BatchEntry<?> entry) {
        boolean interrupted = Thread.interrupted(); // some databases lose their files to it
        try {
            settling.change(message, entry).ifPresent(change -> {
                owed.add(change);
                store.change(taking, List.of(change));
                owed.remove(change);
            });
            if (taking.ordered() && entry.outcome().settlement() == Settlement.ACK) {
                message.message()
                        .orderingKey()
                        .ifPresent(key -> bell.ring(store.release(taking.consumer(), Set.of(key)) - 1));
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
