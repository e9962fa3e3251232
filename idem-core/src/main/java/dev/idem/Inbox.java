package dev.idem;

import dev.idem.internal.inbox.StoreInbox;
import dev.idem.internal.unit.InboxOptions;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.queue.QueueStats;
import dev.idem.sequence.Gap;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The barrier at a consumer's door: runs the work for a message exactly once, however often it is delivered, and says
 * what became of each delivery. The marker and whatever the work writes through its {@link Transaction} commit together.
 *
 * <pre>{@code
 * Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
 * Outcome<Receipt> outcome = inbox.process("payment-service", message, tx -> payments.charge(tx.connection(), order));
 * }</pre>
 *
 * <p>A key inside itself, another key inside a running unit, and any key while a transaction is open on the thread fail at
 * once with {@link NestedProcessingException}; {@link #within(Connection)} joins what is running. Thread-safe; one for an
 * application. Closing it does not close the store's data source.
 */
public interface Inbox extends AutoCloseable {

    static Inbox create(MarkerStore store) {
        return builder(store).build();
    }

    static Builder builder(MarkerStore store) {
        return new Builder(store);
    }

    /** Processes with the message id as key and the default policy. */
    @CheckReturnValue
    default <T extends @Nullable Object, X extends Exception> Outcome<T> process(
            String consumer, Message message, Work<T, X> work) throws X {
        return process(Consumer.of(consumer), message, work);
    }

    /**
     * Processes one delivery with the work given here.
     *
     * @throws X what the work throws, untouched, after everything was rolled back
     * @throws StoreException when the store could not answer: deliver the message again
     * @throws BrokenTransactionException when the work broke its transaction
     * @throws HandlerTimeoutException when the work took too long
     * @throws CommitRefusedException when the database refused the commit, for a deferred constraint, say
     * @throws NestedProcessingException when the work of another message is running on this thread, or a transaction is open
     *     on it
     */
    @CheckReturnValue
    <T extends @Nullable Object, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X;

    /** As above, and keeps the result, so that a duplicate is answered with it. */
    @CheckReturnValue
    <T, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, ResultCodec<T> codec, Work<T, X> work) throws X;

    /** Processes with work that returns nothing, the message id as key and the default policy. */
    @CheckReturnValue
    default <X extends Exception> Outcome<@Nullable Void> run(String consumer, Message message, Work.Action<X> action)
            throws X {
        return run(Consumer.of(consumer), message, action);
    }

    /** Processes with work that returns nothing. */
    @CheckReturnValue
    @SuppressWarnings("NullAway") // the type argument is nullable, which the checker does not follow into a lambda
    default <X extends Exception> Outcome<@Nullable Void> run(Consumer consumer, Message message, Work.Action<X> action)
            throws X {
        return process(consumer, message, (Work<@Nullable Void, X>) tx -> {
            action.run(tx);
            return null;
        });
    }

    /**
     * Processes one delivery with the handler the consumer has for it. Whatever happens becomes an outcome with a
     * settlement; only errors of the virtual machine and nested use are thrown.
     */
    @CheckReturnValue
    Outcome<?> accept(Consumer consumer, Message message);

    /**
     * Processes many deliveries with the handlers the consumer has for them, as many in one transaction as the policy
     * allows: the commit is shared, the verdicts are not. A message that fails takes nothing with it, is not marked, and
     * fails alone. Messages with the same ordering key keep their order: behind one that must come again, the others of
     * its key are {@link Outcome.Held}.
     *
     * <p>A handler may be called again for the same delivery when the transaction was undone by the database or by another
     * message's timeout. A store that cannot batch processes them one by one.
     *
     * @return an outcome for each message, in the order of the messages
     */
    @CheckReturnValue
    List<Outcome<?>> acceptAll(Consumer consumer, List<Message> messages);

    /**
     * Says that everything before a position of its partition is settled, be it done or set aside. Where a
     * {@linkplain Consumer.Builder#watermark watermark} consumer stopped at a message before it that must come again, it
     * goes on: without this it would wait for that message for ever. For other consumers it means nothing.
     */
    void settledBefore(Consumer consumer, Position position);

    /**
     * Joins a transaction that somebody else opened and will commit. When the work of a message fails in it, it can only be
     * rolled back: {@link JoinedFailure#ROLLBACK_ONLY}.
     *
     * @throws UnsupportedOperationException if the store cannot join
     */
    default JoinedInbox within(Connection outer) {
        return within(outer, JoinedFailure.ROLLBACK_ONLY);
    }

    /**
     * Joins a transaction that somebody else opened and will commit.
     *
     * @param onFailure what becomes of it when the work of a message fails
     * @throws UnsupportedOperationException if the store cannot join
     */
    JoinedInbox within(Connection outer, JoinedFailure onFailure);

    /**
     * Keeps a message that cannot be done, of a consumer that {@linkplain Consumer.Builder#parking parks} such messages: with
     * its marker, so that deliveries of it to come are duplicates, until a person retries or skips it. For listeners; an
     * acknowledged outcome says that it is kept, or done, and any other that it is not.
     *
     * @param reason a word for people and filters: EXHAUSTED, say
     * @throws NestedProcessingException inside a handler, or while a transaction is open on the thread that may yet roll back
     */
    @CheckReturnValue
    Outcome<?> park(Consumer consumer, Message message, String reason, @Nullable Throwable cause);

    /** Makes a consumer and its window known to the store before its first message. Optional. */
    void register(Consumer consumer);

    /**
     * Starts the workers of consumers that are {@linkplain Consumer.Builder#queued queued}. They stop when the inbox is
     * closed: nothing more is taken, handlers that are running may end, and what is not done stays in the queue. Until then
     * they keep the process alive, as listeners do, although {@code main} has returned.
     *
     * @throws UnsupportedOperationException if the store keeps no queue
     */
    void start(Consumer... consumers);

    /**
     * How the queue of a consumer stands.
     *
     * @throws UnsupportedOperationException if the store keeps no queue
     */
    QueueStats queueStats(String consumer);

    /**
     * The streams of a queued consumer in which messages wait for a version that is missing, the longest waiting first; a
     * thousand at most.
     *
     * @throws UnsupportedOperationException if the store keeps no sequences
     */
    List<Gap> gaps(String consumer);

    /** What was seen of the consumers in observe mode since this inbox was opened, by name. */
    Map<String, Observation> observations();

    MarkerStore store();

    @Override
    void close();

    /** Collects what an inbox has. Not thread-safe. */
    final class Builder {
        private final MarkerStore store;
        private final List<InboxListener> listeners = new ArrayList<>();
        private FaultHook steps = FaultHook.NONE;
        private int concurrency = Integer.MAX_VALUE;
        private Duration drain = Duration.ofSeconds(30);

        private Builder(MarkerStore store) {
            this.store = Objects.requireNonNull(store, "store");
        }

        public Builder listener(InboxListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        /**
         * How many units may run at once; default unlimited. Set it to the pool's size when many (virtual) threads
         * deliver: then they wait here, without a time limit, and not in the pool, which gives up.
         */
        public Builder concurrency(int units) {
            if (units < 1) {
                throw new IllegalArgumentException("concurrency is " + units + ", but must be at least 1");
            }
            concurrency = units;
            return this;
        }

        /** How long closing waits for the handlers of stored messages that are running; default 30 s. */
        public Builder drain(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("drain is " + longest + ", but must not be negative");
            }
            drain = longest;
            return this;
        }

        /** For tests only: see {@link FaultHook}. */
        public Builder steps(FaultHook hook) {
            steps = Objects.requireNonNull(hook, "hook");
            return this;
        }

        public Inbox build() {
            return new StoreInbox(new InboxOptions(store, listeners, steps, concurrency, drain));
        }
    }
}
