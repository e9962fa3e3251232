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
 * needed: a broker short of memory stops reading from those who publish, and acknowledgements must still get through. While
 * it does that, publishing fails at once and says so. Thread-safe.
 */
final class Publisher implements AutoCloseable {
    private static final long CONFIRM_MILLIS = 15_000;

    private final Link link;
    private final String name;
    private final Preparation preparation;
    private final Set<Target> prepared = new HashSet<>();
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private Blockade blockade = new Blockade();
    private @Nullable Channel channel;
    /** What was published last, if the broker has not answered. */
    private @Nullable Confirmation open;
    /** What was blocked, and taken in the end. */
    private @Nullable Object taken;

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

    /**
     * Throws unless the broker has confirmed that the message is in a queue; then it may be there all the same.
     *
     * @param what the identity of this publication. One that a blocking broker has not answered is not published twice, but
     *     waited for
     */
    synchronized void publish(Object what, Target target, BasicProperties properties, byte[] body)
            throws IOException, TimeoutException, InterruptedException {
        Confirmation before = open;
        if (before != null && before.what() != what) { // answered first, and remembered for who asks again
            taken = await(before) == Confirmation.Answer.TAKEN ? before.what() : null;
        }
        if (taken == what) {
            taken = null;
            return;
        }
        Confirmation answer = open == null ? send(what, target, properties, body) : open;
        check(await(answer), target);
    }

    private Confirmation.Answer await(Confirmation answer) throws IOException, InterruptedException {
        Confirmation.Answer said = Confirmation.Answer.NONE;
        try {
            said = answer.await(CONFIRM_MILLIS, blockade, this::isUsable);
            if (said == Confirmation.Answer.BLOCKED) {
                throw blockade.failure();
            }
            return said;
        } finally {
            if (said == Confirmation.Answer.BLOCKED) {
                open = answer;
            } else if (said == Confirmation.Answer.TAKEN) {
                open = null;
            } else { // a late answer must not be taken for that to the next message
                forget();
            }
        }
    }

    private Confirmation send(Object what, Target target, BasicProperties properties, byte[] body)
            throws IOException, TimeoutException {
        Channel ready = channel(target);
        Confirmation answer = new Confirmation(what, ready.getNextPublishSeqNo());
        ready.clearConfirmListeners();
        ready.clearReturnListeners();
        ready.addConfirmListener(answer);
        // What has no queue is returned first and then confirmed.
        ready.addReturnListener(answer);
        boolean sent = false;
        try {
            ready.basicPublish(target.exchange(), target.routingKey(), true, properties, body);
            sent = true;
        } finally {
            if (!sent) {
                forget();
            }
        }
        return answer;
    }

    private void check(Confirmation.Answer said, Target target) throws IOException {
        switch (said) {
            case TAKEN, BLOCKED -> {} // the latter was thrown already
            case RETURNED -> {
                prepared.remove(target);
                throw new IOException("No queue receives what is published to " + target);
            }
            case REFUSED -> throw new IOException("The broker did not take a message for " + target);
            case NONE -> throw new IOException("The broker did not confirm a message for " + target);
        }
    }

    private Channel channel(Target target) throws IOException, TimeoutException {
        Connection current = connection;
        if (current == null || !current.isOpen()) {
            forget();
            Link.close(current);
            prepared.clear();
            current = link.connect(name);
            blockade = new Blockade();
            current.addBlockedListener(blockade);
            connection = current;
        }
        if (closed) {
            Link.close(current);
            throw new IOException("The listener is closed");
        }
        if (blockade.isUp()) { // nothing more is read from here, not even a question
            throw blockade.failure();
        }
        if (!prepared.contains(target)) {
            preparation.ensure(current, target);
            prepared.add(target);
        }
        Channel ready = channel;
        if (ready == null || !ready.isOpen()) {
            ready = current.createChannel();
            ready.confirmSelect();
            channel = ready;
        }
        return ready;
    }

    private boolean isUsable() {
        Channel current = channel;
        return current != null && current.isOpen();
    }

    private void forget() {
        Channel old = channel;
        channel = null;
        open = null;
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
