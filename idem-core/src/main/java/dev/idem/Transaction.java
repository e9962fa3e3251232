package dev.idem;

import dev.idem.queue.Outbox;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What a handler is given: the message and the transaction in which its marker was claimed. What the handler writes
 * through this transaction is applied exactly once, together with the marker; what it does elsewhere may repeat.
 *
 * <p>Valid on the handler's thread until the handler returns or times out; then every use of it throws.
 */
public interface Transaction {
    Message message();

    /** The name of the consumer this runs for. */
    String consumer();

    /** 1 for the first run in this delivery; higher when a deadlock or a lost connection made Idem run it again. */
    int run();

    /**
     * The connection of the transaction. It refuses commit, rollback, close and autocommit: those are Idem's.
     *
     * @throws UnsupportedOperationException if the store has no database transaction
     */
    Connection connection();

    /**
     * The same transaction for libraries that open, commit and close connections by themselves. Their transactions become
     * part of this one: a commit is durable only when Idem commits, after the handler; a rollback undoes everything, so the
     * handler must then throw, and is refused with {@link BrokenTransactionException} if it returns. Closing a connection
     * with work that was not committed (autocommit off) counts as a rollback. Savepoints are real.
     *
     * @throws UnsupportedOperationException if the store has no database transaction
     */
    DataSource dataSource();

    /**
     * Hands a statement over, to be sent after the handler has returned, before the commit. Inside a batch the statements
     * of all its messages go to the database together, which is many times faster than one by one. Statements of one
     * message, and of messages with the same ordering key, keep their order; so do not mix them with statements on {@link
     * #connection} that need their effects: they come after those of all handlers, also of later messages with the same
     * ordering key. A statement that fails fails its own message.
     *
     * <pre>{@code
     * tx.defer("INSERT INTO payment (order_id, cents) VALUES (?, ?)", order.id(), order.cents());
     * }</pre>
     *
     * @param args bound as {@code PreparedStatement.setObject} does; null is bound as NULL
     * @throws UnsupportedOperationException if the store has no database transaction
     */
    void defer(String sql, @Nullable Object... args);

    /**
     * Publishes a message, if and only if this transaction commits: it is written with the transaction, and a relay takes it
     * from there. Without an id it gets one that is the same in every run for this input; without a source, the consumer's
     * name; and the headers {@link Outbox#CAUSATION_ID} and {@link Outbox#CORRELATION_ID}, unless it has them.
     *
     * @param destination the name of an {@link Outbox} that the consumer {@linkplain Consumer.Builder#publishesTo publishes
     *     to}
     * @throws IllegalArgumentException if it publishes to none of that name, or the message is too large
     * @throws UnsupportedOperationException if the store keeps no queue
     */
    void publish(String destination, Message message);

    /**
     * Says that this message needs no effect: it is done, although nothing was written for it. Without that word a handler
     * that sends nothing through its transaction is refused, because its effects are probably somewhere else: see {@link Policy#withUnusedTransaction}.
     */
    void nothingToDo();

    /**
     * An id that depends on the consumer, the message and the purpose alone: a key for a provider, or the id of a row. The same
     * in every run, and no other consumer, message or purpose has it.
     */
    String outputId(String purpose);
}
