package dev.idem.broker.spi;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import dev.idem.broker.MessageReader;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * What is optional for a listener of any broker. Each adapter adds what only its broker has. Not thread-safe.
 *
 * @param <B> the adapter's builder
 * @param <D> a delivery, as the broker's client has it
 */
public abstract class ListenerBuilder<B extends ListenerBuilder<B, D>, D> {
    /** After 1 s, doubling up to 1 min, jittered; 10 attempts. */
    public static final RetryPolicy DEFAULT_RETRY =
            RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private static final long MIB = 1024 * 1024;
    private static final int MOST_LANES = 1_000;

    private final Consumer consumer;
    private final Inbox inbox;
    private MessageReader<D> reader;
    private RetryPolicy retry = DEFAULT_RETRY;
    private int parallelism = 1;
    private int maxPending = 2_000;
    private long maxPendingBytes = defaultBytes(Runtime.getRuntime().maxMemory());
    private Duration drain = Duration.ofSeconds(20);
    private @Nullable ThreadFactory threads;

    protected ListenerBuilder(MessageReader<D> reader, Consumer consumer, Inbox inbox) {
        this.reader = Objects.requireNonNull(reader, "reader");
        this.consumer = Objects.requireNonNull(consumer, "consumer");
        this.inbox = Objects.requireNonNull(inbox, "inbox");
    }

    /** A sixteenth of the heap, but at least 8 and at most 64 MiB. */
    static long defaultBytes(long heap) {
        return Math.max(8 * MIB, Math.min(64 * MIB, heap / 16));
    }

    protected abstract B self();

    protected final Consumer consumer() {
        return consumer;
    }

    protected final Inbox inbox() {
        return inbox;
    }

    /** What was chosen so far. */
    protected final ListenerOptions<D> options() {
        return new ListenerOptions<>(reader, retry, parallelism, maxPending, maxPendingBytes, drain, threads);
    }

    /** The headers that id, type and other attributes come from; default {@link Attributes#defaults}. */
    public final B attributes(Attributes value) {
        reader = reader.attributes(value);
        return self();
    }

    /** How a delivery becomes a message, where headers alone do not say it; takes the place of {@link #attributes}. */
    public final B messages(MessageReader<D> value) {
        reader = Objects.requireNonNull(value, "value");
        return self();
    }

    /** When a message whose handler failed comes again, and how often; default {@link #DEFAULT_RETRY}. */
    public final B retry(RetryPolicy value) {
        retry = Objects.requireNonNull(value, "value");
        return self();
    }

    /**
     * How many lanes work side by side; default 1. Messages with the same ordering key stay in one lane and keep their
     * order. Each lane needs a connection to the database.
     */
    public final B parallelism(int lanes) {
        parallelism = (int) checked("parallelism", lanes, MOST_LANES);
        return self();
    }

    /** How many messages are kept in memory before no more are taken from the broker, about; default 2000. */
    public final B maxPending(int messages) {
        maxPending = (int) checked("maxPending", messages, Integer.MAX_VALUE);
        return self();
    }

    /**
     * How many bytes of messages are kept in memory before no more are taken from the broker, about; default a sixteenth of the
     * heap, from 8 to 64 MiB. A single message may be larger.
     */
    public final B maxPendingBytes(long bytes) {
        maxPendingBytes = checked("maxPendingBytes", bytes, Long.MAX_VALUE);
        return self();
    }

    /** How long closing waits for handlers that are running; default 20 s. What takes longer is delivered again. */
    public final B drain(Duration longest) {
        if (longest.isNegative()) {
            throw new IllegalArgumentException("drain is " + longest + ", but must not be negative");
        }
        drain = longest;
        return self();
    }

    /**
     * Makes all threads of the listener. By default its own thread keeps the process alive until the listener is closed, and
     * those that run handlers do not.
     */
    public final B threads(ThreadFactory factory) {
        threads = Objects.requireNonNull(factory, "factory");
        return self();
    }

    private static long checked(String name, long value, long most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(name + " is " + value + ", but must be between 1 and " + most);
        }
        return value;
    }
}
