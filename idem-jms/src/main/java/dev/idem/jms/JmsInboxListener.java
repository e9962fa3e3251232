package dev.idem.jms;

import dev.idem.broker.spi.ListenerRun;
import dev.idem.broker.spi.RestartableListener;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes a queue's messages through an inbox, until it is closed. Thread-safe.
 *
 * <p>A message is settled only after its effect, its dead letter or the copy that comes again is durable. What is received
 * and not settled when the process, the connection or this listener ends is delivered again by the broker, and the inbox
 * recognises it.
 */
public final class JmsInboxListener extends RestartableListener<ListenerRun> {
    private final AtomicLong settled;

    JmsInboxListener(JmsOptions options) {
        this(options, new AtomicLong());
    }

    private JmsInboxListener(JmsOptions options, AtomicLong settled) {
        super(() -> new JmsRun(options, settled), options.common().drain());
        this.settled = settled;
    }

    /** How many messages were settled since it was built, however. */
    public long settled() {
        return settled.get();
    }
}
