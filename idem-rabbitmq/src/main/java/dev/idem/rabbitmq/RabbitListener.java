package dev.idem.rabbitmq;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.PossibleAuthenticationFailureException;
import dev.idem.Consumer;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.broker.Lanes;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Pace;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to a queue until it is closed. Connects again by itself; each connection is a generation of its own, and what an
 * older one has delivered is forgotten, because the broker delivers it again. Thread-safe.
 */
public final class RabbitListener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RabbitListener.class);
    private static final Duration CHECK = Duration.ofMillis(500);
    private static final Duration SHORT_LIFE = Duration.ofSeconds(5);
    private static final long LONGEST_PAUSE_MILLIS = 5_000;

    private final Options options;
    private final String name;
    private final Link link;
    private final Topology topology;
    private final Publisher publisher;
    private final Reading reading;
    private final Lanes<Incoming> lanes;
    private final Pace pace;
    private final AtomicLong redelivered = new AtomicLong();
    private final AtomicLong generations = new AtomicLong();
    private int shortLives; // the supervisor's
    private volatile boolean checked;
    private volatile @Nullable Session session;
    private volatile @Nullable ListenerState end;

    private RabbitListener(Options options, Consumer consumer, Inbox inbox) {
        this.options = options;
        name = consumer.name() + " on " + options.queue;
        link = new Link(options.factory, options.addresses);
        topology = new Topology(options);
        publisher = new Publisher(link, "idem " + name + " (publishes)", topology::ensure);
        reading = new Reading(options.attributes);
        pace = new Pace(name + ", broker");
        lanes = Lanes.start(
                new Lanes.Options(name, options.parallelism, options.retry, options.threads),
                inbox,
                consumer,
                new Settling(options, topology, publisher));
    }

    static RabbitListener start(Options options, Consumer consumer, Inbox inbox) {
        Objects.requireNonNull(inbox, "inbox");
        if (consumer.isWatermark()) {
            throw new IllegalArgumentException(
                    "Consumer " + consumer.name() + " keeps watermarks, but a queue of RabbitMQ has no positions");
        }
        Advice.early(options, consumer);
        RabbitListener listener = new RabbitListener(options, consumer, inbox);
        try {
            listener.connect();
        } catch (IdemException refused) {
            listener.fail();
            throw refused;
        }
        Thread supervisor = options.threads.newThread(listener::supervise);
        supervisor.setName(listener.name + "-supervisor");
        supervisor.start();
        return listener;
    }

    public ListenerState state() {
        ListenerState ended = end;
        if (ended != null) {
            return ended;
        }
        Session current = session;
        if (current == null || !current.isOpen()) {
            return checked ? ListenerState.WAITING : ListenerState.STARTING;
        }
        return lanes.isWaiting() ? ListenerState.WAITING : ListenerState.RUNNING;
    }

    public RabbitStatus status() {
        Session current = session;
        return new RabbitStatus(
                state(),
                options.queue,
                options.prefetch,
                current == null ? 0 : current.unsettled(),
                redelivered.get(),
                generations.get());
    }

    /** One try. What the broker refuses for a reason that waiting does not cure is thrown, before the first success. */
    private void connect() {
        try {
            Session opened = open();
            synchronized (this) {
                if (end == null) {
                    session = opened;
                    pace.succeeded();
                    return;
                }
            }
            opened.close();
        } catch (PossibleAuthenticationFailureException refused) {
            if (!checked) {
                throw new IdemException("The broker refused the credentials for queue " + options.queue, refused);
            }
            pace.failed(refused);
        } catch (IdemException refused) {
            if (!checked) {
                throw refused;
            }
            if (!pace.isWaiting()) {
                log.warn("{}: {}", name, refused.getMessage());
            }
            pace.failed(refused);
        } catch (IOException | TimeoutException | RuntimeException unreachable) {
            pace.failed(unreachable);
        }
    }

    private Session open() throws IOException, TimeoutException {
        Connection connection = link.connect("idem " + name);
        boolean opened = false;
        try {
            if (checked) {
                topology.checkQueue(connection);
            } else {
                topology.check(connection);
                Advice.onServer(options, connection);
            }
            Session started = Session.open(
                    generations.incrementAndGet(), connection, options.queue, options.prefetch, this::arrived);
            checked = true;
            opened = true;
            return started;
        } finally {
            if (!opened) {
                Link.close(connection);
            }
        }
    }

    private void arrived(Incoming delivery) {
        if (delivery.envelope().isRedeliver()) {
            redelivered.incrementAndGet();
        }
        lanes.add(List.of(new Lanes.Delivery<>(
                delivery,
                reading.message(delivery.properties(), delivery.body()),
                Tables.failures(delivery.properties()))));
        if (!delivery.session().isOpen()) { // lost meanwhile: it comes again, behind those before it
            lanes.forget(late -> late.session() == delivery.session(), Duration.ZERO);
        }
    }

    private void supervise() {
        try {
            while (end == null) {
                Session current = session;
                if (current == null) {
                    pause(pace.left());
                    connect();
                } else {
                    watch(current);
                }
            }
        } catch (InterruptedException stop) {
            log.debug("{}: interrupted", name);
            fail();
        } catch (RuntimeException | Error fatal) {
            log.error("{}: gave up; build a new listener when this is repaired", name, fatal);
            fail();
        }
    }

    private void watch(Session current) throws InterruptedException {
        Optional<Throwable> cause = current.awaitEnd(CHECK);
        if (end != null) {
            return;
        }
        if (cause.isPresent()) {
            leave(current);
            pace.failed(cause.get());
            shortLives = current.age().compareTo(SHORT_LIFE) < 0 ? shortLives + 1 : 0;
            pause(Duration.ofMillis(
                    shortLives == 0 ? 0 : Math.min(LONGEST_PAUSE_MILLIS, 50L << Math.min(shortLives, 10))));
        } else if (lanes.failure().isPresent()) {
            log.error("{}: a lane has died; build a new listener", name);
            fail();
        } else if (current.oldest().compareTo(options.longestHold) > 0) {
            log.warn("{}: gives back deliveries that have waited for {}", name, options.longestHold);
            leave(current);
        }
    }

    /** The broker delivers again what this generation has not acknowledged. */
    private void leave(Session left) {
        session = null;
        left.close();
        lanes.forget(delivery -> delivery.session() == left, Duration.ZERO);
    }

    private synchronized void pause(Duration longest) throws InterruptedException {
        long deadline = System.nanoTime() + longest.toNanos();
        for (long left = longest.toMillis(); left > 0 && end == null; ) {
            wait(left);
            left = (deadline - System.nanoTime()) / 1_000_000;
        }
    }

    private void fail() {
        if (end(ListenerState.FAILED)) {
            release();
            lanes.close(Duration.ZERO);
        }
    }

    /** Closes with the time that {@link RabbitInbox.Builder#drain} gave. */
    @Override
    public void close() {
        close(options.drain);
    }

    /**
     * Takes no more deliveries, lets running handlers end within this time, acknowledges what is done, and gives back the
     * rest.
     */
    public void close(Duration longest) {
        if (end(ListenerState.CLOSING)) {
            Session current = session;
            if (current != null) {
                current.cancel();
            }
            if (!lanes.close(longest)) {
                log.warn("{}: closed while handlers were running; their messages come again", name);
            }
            release();
            end = ListenerState.CLOSED;
        } else if (end == ListenerState.FAILED) {
            end = ListenerState.CLOSED;
        }
    }

    private void release() {
        Session current = session;
        session = null;
        if (current != null) {
            current.close();
        }
        publisher.close();
    }

    /** Answers whether this call has ended it. */
    private synchronized boolean end(ListenerState state) {
        if (end != null) {
            return false;
        }
        end = state;
        notifyAll();
        return true;
    }
}
