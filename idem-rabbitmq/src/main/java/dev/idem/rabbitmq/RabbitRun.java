package dev.idem.rabbitmq;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.ListenerRun;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One life of a {@link RabbitInboxListener}: the lanes, and the supervisor that keeps them supplied. Thread-safe. */
final class RabbitRun implements ListenerRun {
    private static final Logger log = LoggerFactory.getLogger(RabbitInboxListener.class);

    private final Options options;
    private final String name;
    private final Publisher publisher;
    private final Connector connector;
    private final Intake intake;
    private final KeyedExecutor<Incoming> lanes;
    private final Supervisor supervisor;
    private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
    private volatile @Nullable ListenerState end;
    private volatile @Nullable Throwable failure;

    private RabbitRun(Options options, Consumer consumer, Inbox inbox) {
        this.options = options;
        name = consumer.name() + " on " + options.queue();
        Link link = new Link(options.factory(), options.addresses()).withThreads(options.common()::worker);
        Topology topology = new Topology(options);
        publisher = new Publisher(link, "idem " + name + " (publishes)", topology::ensure);
        LazySeal seal = new LazySeal(inbox);
        KeyedExecutor.Options how = options.common().lanes(name);
        lanes = KeyedExecutor.start(
                new KeyedExecutor.Options(
                        name, how.lanes(), how.retry(), this::worker, how.maxPending(), how.maxBytes()),
                inbox,
                consumer,
                new Settling(options, topology, publisher, seal));
        Optional<StreamReader> stream = consumer.isWatermark()
                ? Optional.of(new StreamReader(consumer, inbox, options.streamName(), options.streamFrom()))
                : Optional.empty();
        intake = new Intake(options, seal, lanes, stream);
        connector = new Connector(options, name, link, topology, intake, stream);
        supervisor = new Supervisor(options, name, connector, intake.prefetch(), lanes, this::fail);
    }

    /** Starts, and waits for nothing. */
    static RabbitRun start(Options options, Consumer consumer, Inbox inbox) {
        RabbitRun run = new RabbitRun(options, consumer, inbox);
        Thread keeper = options.common().keeper(run.supervisor);
        keeper.setName(run.name + "-supervisor");
        keeper.start();
        return run;
    }

    private Thread worker(Runnable work) {
        Thread thread = options.common().worker(work);
        workers.add(thread);
        return thread;
    }

    @Override
    public ListenerState state() {
        ListenerState ended = end;
        if (ended != null) {
            return ended;
        }
        if (waiting().isPresent()) {
            return ListenerState.WAITING;
        }
        return supervisor.isConnected() ? ListenerState.RUNNING : ListenerState.STARTING;
    }

    @Override
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public Optional<Waiting> waiting() {
        return end != null ? Optional.empty() : supervisor.waiting().or(lanes::waiting);
    }

    @Override
    public int pending() {
        return lanes.pending();
    }

    @Override
    public long pendingBytes() {
        return lanes.pendingBytes();
    }

    @Override
    public OptionalLong lag() {
        return end != null ? OptionalLong.empty() : supervisor.lag();
    }

    @Override
    public void taking(boolean wanted) {
        supervisor.taking(wanted, !workers.contains(Thread.currentThread()));
    }

    RabbitStatus status(ListenerState state) {
        Optional<Session> session = supervisor.session();
        return new RabbitStatus(
                state,
                options.queue(),
                session.map(Session::prefetch).orElse(0),
                session.map(Session::unsettled).orElse(0),
                intake.redelivered(),
                connector.generations());
    }

    private void fail(Throwable cause) {
        if (end(ListenerState.FAILED, cause)) {
            log.error("{}: gave up; restart it when this is repaired", name, cause);
            supervisor.stop();
            lanes.close(Duration.ZERO);
            publisher.close();
        }
    }

    @Override
    public void close(Duration longest) {
        if (!end(ListenerState.CLOSING, null)) {
            if (end == ListenerState.FAILED) {
                end = ListenerState.CLOSED;
            }
        } else if (workers.contains(Thread.currentThread())) { // a handler, which must end first
            options.common().worker(() -> drain(longest)).start();
        } else {
            drain(longest);
        }
    }

    private void drain(Duration longest) {
        supervisor.leave();
        if (!lanes.close(longest)) {
            log.warn("{}: closed while handlers were running; their messages come again", name);
        }
        supervisor.stop();
        publisher.close();
        end = ListenerState.CLOSED;
    }

    /** Answers whether this call has ended it. */
    private synchronized boolean end(ListenerState state, @Nullable Throwable cause) {
        if (end != null) {
            return false;
        }
        failure = cause;
        end = state;
        return true;
    }
}
