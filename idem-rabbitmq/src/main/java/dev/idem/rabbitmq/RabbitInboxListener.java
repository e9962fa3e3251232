package dev.idem.rabbitmq;

import dev.idem.broker.spi.RestartableListener;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Listens to a queue until it is closed. Connects again by itself; each connection is a generation of its own, and what an
 * older one has delivered is forgotten, because the broker delivers it again. Thread-safe.
 */
@SuppressWarnings("exports") // one life is not for users, and nothing public shows it
public final class RabbitInboxListener extends RestartableListener<RabbitRun> {
    RabbitInboxListener(Supplier<RabbitRun> start, Duration drain) {
        super(start, drain);
    }

    /** What only a listener to RabbitMQ has to tell. */
    public RabbitStatus status() {
        return run().status(state());
    }
}
