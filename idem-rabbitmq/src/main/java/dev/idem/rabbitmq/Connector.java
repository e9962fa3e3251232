package dev.idem.rabbitmq;

import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Opens the connections of a listener, one after the other, and looks whether its queues are there. Thread-safe. */
final class Connector {
    private final Options options;
    private final String name;
    private final Link link;
    private final Topology topology;
    private final Intake intake;
    private final Optional<StreamReader> stream;
    private final AtomicLong generations = new AtomicLong();
    private volatile boolean checked;

    Connector(
            Options options, String name, Link link, Topology topology, Intake intake, Optional<StreamReader> stream) {
        this.options = options;
        this.name = name;
        this.link = link;
        this.topology = topology;
        this.intake = intake;
        this.stream = stream;
    }

    /**
     * Connects, and consumes nothing yet.
     *
     * @param ended called when the session has ended
     * @throws WrongQueueException if the consumer cannot read such a queue
     * @throws dev.idem.IdemException if a queue is not there, or not as it must be
     */
    Session open(Runnable ended) throws IOException, TimeoutException {
        Backpressure pressure = new Backpressure(link.traffic(), intake::isFull);
        Connection connection = link.connect("idem " + name, pressure);
        boolean opened = false;
        try {
            if (checked) {
                topology.checkQueue(connection);
            } else {
                topology.check(connection);
                Advice.onServer(options, connection);
                checked = true;
            }
            checkKind(connection);
            Session session = Session.open(generations.incrementAndGet(), connection, pressure, intake, ended);
            opened = true;
            return session;
        } finally {
            if (!opened) {
                Link.close(connection);
            }
        }
    }

    /** Lets the broker send so many messages ahead. */
    void consume(Session session, int prefetch) throws IOException {
        Map<String, Object> arguments =
                stream.map(reader -> reader.arguments(session)).orElse(Map.of());
        session.consume(options.queue(), prefetch, arguments);
    }

    /** A stream keeps no position for its consumers: without a mark they would pass over what came while they were away. */
    private void checkKind(Connection connection) throws IOException, TimeoutException {
        boolean found = topology.isStream(connection);
        if (found && stream.isEmpty()) {
            throw new WrongQueueException("Queue " + options.queue()
                    + " is a stream, which keeps no position for its consumers: build the consumer with watermark()");
        }
        if (!found && stream.isPresent()) {
            throw new WrongQueueException("Queue " + options.queue()
                    + " is not a stream, and its messages have no positions: build the consumer without watermark()");
        }
    }

    /** @throws WrongQueueException if the queue turns out to be another one than before */
    void check(Session session) {
        if (session.prefetch() > 0 && !session.isStalled()) {
            stream.ifPresent(StreamReader::check);
        }
    }

    /** Whether the broker can say how much is left. */
    boolean knowsLag() {
        return stream.isEmpty();
    }

    long generations() {
        return generations.get();
    }
}
