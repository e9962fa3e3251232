package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * An inbox inside a transaction that somebody else owns. The marker and the work become part of that transaction: its
 * owner commits, and only then is anything true. The answer is therefore {@link Provisional}.
 *
 * <p>If the work throws, everything since the claim is undone, the exception passes through, and the outer transaction
 * can go on. Nothing is retried here: after a deadlock or a lost connection the owner must run its whole transaction
 * again. Use one for one outer transaction. Not thread-safe, like the connection.
 */
public interface JoinedInbox {

    default <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            String consumer, Message message, Work<T, X> work) throws X {
        return process(Consumer.of(consumer), message, work);
    }

    <T extends @Nullable Object, X extends Exception> Provisional<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X;
}
