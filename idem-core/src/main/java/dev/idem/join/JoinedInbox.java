package dev.idem.join;

import dev.idem.CheckReturnValue;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Work;
import org.jspecify.annotations.Nullable;

/**
 * An inbox inside a transaction that somebody else owns. The marker and the work become part of that transaction: its
 * owner commits, and only then is anything true. The answer is therefore {@link Provisional}.
 *
 * <p>If the work throws, or breaks the transaction, everything since the claim is undone, the exception passes through, and
 * the owner's transaction can only be rolled back: its commit fails. An owner that has said {@link
 * JoinedFailure#UNDO_TO_SAVEPOINT} can go on instead. What fails before the work begins leaves the transaction as it was.
 * A connection that is neither Idem's nor of a framework that the store was told of is closed for that: no database can be
 * brought to refuse a commit.
 *
 * <p>The consumer's {@code handlerTimeout}, {@code maxRuns} and {@code unusedTransaction} do not apply here: the owner's
 * transaction is the owner's business. Nothing is retried here: after a deadlock or a lost connection the owner must run
 * its whole transaction again. Several on one connection may be used in turn, or one inside another's work, and are
 * confirmed in any order, but not inside the work of one that has joined later. What joins inside another's work is undone
 * together with it, and must then come again. Beside another transaction that is open on the thread nothing is joined:
 * {@link NestedProcessingException}. Not thread-safe, like the connection.
 */
public interface JoinedInbox {

    /** Processes with the message id as key and the default policy. */
    @CheckReturnValue
    default <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            String consumer, Message message, Work<T, X> work) throws X {
        return process(Consumer.of(consumer), message, work);
    }

    /** Processes one delivery with the work given here; as {@link Inbox#process(Consumer, Message, Work)}. */
    @CheckReturnValue
    <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X;

    /** Processes with work that returns nothing, the message id as key and the default policy. */
    @CheckReturnValue
    default <X extends Exception> Provisional<@Nullable Void> run(
            String consumer, Message message, Work.Action<X> action) throws X {
        return run(Consumer.of(consumer), message, action);
    }

    /** Processes with work that returns nothing. */
    @CheckReturnValue
    @SuppressWarnings("NullAway") // the type argument is nullable, which the checker does not follow into a lambda
    default <X extends Exception> Provisional<@Nullable Void> run(
            Consumer consumer, Message message, Work.Action<X> action) throws X {
        return process(consumer, message, (Work<@Nullable Void, X>) tx -> {
            action.run(tx);
            return null;
        });
    }

    /**
     * Processes one delivery with the handler the consumer has for it; as {@link Inbox#accept}. Whatever happens becomes an
     * outcome; a {@code Failed} one has done to the owner's transaction what an exception of {@link #process} does.
     *
     * @throws UnsupportedOperationException if the consumer has a watermark, or is queued
     */
    @CheckReturnValue
    Provisional<?> accept(Consumer consumer, Message message);
}
