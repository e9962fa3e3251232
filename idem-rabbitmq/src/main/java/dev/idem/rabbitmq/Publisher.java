package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes one message at a time, and returns when the broker has it in a queue. Has a connection of its own, opened when
 * needed: a broker short of memory stops reading from those who publish, and acknowledgements must still get through.
 * Thread-safe.
 */
final class Publisher implements AutoCloseable {
    private static final long CONFIRM_MILLIS = 15_000;

    private final Link link;
    private final String name;
    private final Preparation preparation;
    private final Set<Target> prepared = new HashSet<>();
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private volatile boolean returned;
    private @Nullable Channel channel;

    Publisher(Link link, String name, Preparation preparation) {
        this.link = link;
        this.name = name;
        this.preparation = preparation;
    }

    /** Sees to it that there is a queue. */
    @FunctionalInterface
    interface Preparation {
        void ensure(Connection connection, Target target) throws IOException, TimeoutException;
    }

    /** Throws unless the broker has confirmed that the message is in a queue; then it may be there all the same. */
    synchronized void publish(Target target, BasicProperties properties, byte[] body)
            throws IOException, TimeoutException, InterruptedException {
        Channel open = channel(target);
        returned = false;
        boolean confirmed = false;
        try {
            open.basicPublish(target.exchange(), target.routingKey(), true, properties, body);
            confirmed = open.waitForConfirms(CONFIRM_MILLIS);
        } finally {
            if (!confirmed) { // a late answer must not be taken for that to the next message
                forget();
            }
        }
        if (!confirmed) {
            throw new IOException("The broker did not take a message for " + target);
        }
        // What has no queue is returned first and then confirmed.
        if (returned) {
            prepared.remove(target);
            throw new IOException("No queue receives what is published to " + target);
        }
    }

    private Channel channel(Target target) throws IOException, TimeoutException {
        Connection current = connection;
        if (current == null || !current.isOpen()) {
            forget();
            Link.close(current);
            prepared.clear();
            current = link.connect(name);
            connection = current;
        }
        if (closed) {
            Link.close(current);
            throw new IOException("The listener is closed");
        }
        if (!prepared.contains(target)) {
            preparation.ensure(current, target);
            prepared.add(target);
        }
        Channel open = channel;
        if (open == null || !open.isOpen()) {
            open = current.createChannel();
            open.confirmSelect();
            open.addReturnListener(unroutable -> returned = true);
            channel = open;
        }
        return open;
    }

    private void forget() {
        Channel old = channel;
        channel = null;
        try {
            if (old != null) {
                old.abort();
            }
        } catch (IOException | RuntimeException gone) {
            // as intended
        }
    }

    /** Also while another thread waits for a confirmation, which it will not get. */
    @Override
    public void close() {
        closed = true;
        Link.close(connection);
    }
}
