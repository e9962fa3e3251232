package dev.idem.steps;

import dev.idem.Message;
import dev.idem.ResultCodec;
import dev.idem.Work;
import dev.idem.queue.LeaseLostException;

/**
 * What a {@link StepHandler} is given: the message, and the means to handle it in steps that are done once each.
 *
 * <p><b>A step</b> is work in the database. Its effect, its result and the proof that this worker still has the message
 * commit in one transaction. A step that is done is never run again: after a crash or a failure it returns its stored
 * result. Between steps no transaction is open.
 *
 * <p><b>An effect</b> is a call to somebody outside: a card, a mail, a parcel. That it is about to be made is committed
 * before the call, its result after it. Who dies in between leaves an effect of which nobody knows whether it was made;
 * the {@link EffectPolicy} says what to do then, and it is never blindly repeated. The call is given a key that is the same
 * in every repetition, for providers that recognise one.
 *
 * <p>Names are durable and must differ within one handling. Steps that were renamed, reordered or left out since a message
 * was begun are found out ({@link StepMismatchException}) and the message is parked. Steps may be added behind the others.
 *
 * <p>Whoever has lost the lease can write nothing more: {@link LeaseLostException}. Valid on the handler's thread until
 * the handler returns.
 *
 * <pre>{@code
 * steps.step("reserve", tx -> stock.reserve(tx.connection(), order));
 * String receipt = steps.effect("charge-card", ResultCodec.text(), key -> provider.charge(key.value(), order));
 * steps.step("book", tx -> books.add(tx.connection(), order, receipt));
 * }</pre>
 */
public interface Steps {
    Message message();

    /** The name of the consumer this runs for. */
    String consumer();

    /** How often the handling of this message was started, this time included. */
    int attempt();

    /** Does a step that has no result. */
    <X extends Exception> void step(String name, Work.Action<X> work) throws X;

    /**
     * Does a step, or answers what it returned when it was done. A null result is answered as null.
     *
     * @throws X what the work throws; then nothing of it is kept, and it runs again when the handler is called again
     */
    <T, X extends Exception> T step(String name, ResultCodec<T> codec, Work<T, X> work) throws X;

    /** Makes an effect without a result, and parks the message if it becomes unknown whether it was made. */
    <X extends Exception> void effect(String name, EffectCall.Action<X> call) throws X;

    /** Makes an effect without a result. */
    <X extends Exception> void effect(String name, EffectPolicy<?> policy, EffectCall.Action<X> call) throws X;

    /** Makes an effect, and parks the message if it becomes unknown whether it was made. */
    <T, X extends Exception> T effect(String name, ResultCodec<T> codec, EffectCall<T, X> call) throws X;

    /**
     * Makes an effect, or answers what the provider said when it was made.
     *
     * @throws X what the call throws. Unless that is an {@link EffectNotDoneException}, it is unknown from then on whether
     *     the effect was made
     */
    <T, X extends Exception> T effect(String name, EffectPolicy<T> policy, ResultCodec<T> codec, EffectCall<T, X> call)
            throws X;
}
