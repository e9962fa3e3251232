package dev.idem.torture;

import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.broker.ListenerState;
import dev.idem.jdbc.JdbcStore;
import dev.idem.kafka.KafkaInbox;
import dev.idem.kafka.KafkaInboxListener;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitInboxListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A consumer JVM: a listener of the real adapter, on a real broker and a real database. To be killed. */
public final class ConsumerMain {
    /** What it says of each delivery, with the number of messages behind it. */
    static final String DELIVERED = "HAD ";

    private static final int PARALLELISM = 3;

    /** A batch is rolled back as one by a kill; with large ones nothing would get done. */
    private static final int BATCH = 20;

    private static final long BATCH_BYTES = 1 << 20;

    private static final int PREFETCH = 100;
    private static final int POISON_ATTEMPTS = 3;
    private static final Duration RETRY_QUEUE = Duration.ofMillis(200);
    private static final Duration DRAIN = Duration.ofSeconds(5);
    private static final int HEARTBEAT_SECONDS = 1;
    private static final long LOOK_MILLIS = 20;

    private final Defect defect;
    private final Subject subject;
    private final String address;
    private final boolean ordered;

    private ConsumerMain(Defect defect, Subject subject, String address, boolean ordered) {
        this.defect = defect;
        this.subject = subject;
        this.address = address;
        this.ordered = ordered;
    }

    /** What {@link #main} takes. */
    static String[] arguments(TortureSettings settings, Defect defect, String address) {
        return new String[] {defect.name(), settings.subject().name(), address, Boolean.toString(settings.isOrdered())};
    }

    public static void main(String... args) throws Exception {
        new ConsumerMain(Defect.valueOf(args[0]), Subject.valueOf(args[1]), args[2], Boolean.parseBoolean(args[3]))
                .serve(new WorkerPipe());
    }

    private void serve(WorkerPipe pipe) throws InterruptedException {
        try (HikariDataSource pool = WorkerPipe.pool(defect);
                Inbox inbox = WorkerPipe.patiently(() -> Inbox.create(JdbcStore.create(pool)))) {
            Handling handling = new Handling(pool, defect, false, () -> pipe.say(WorkerPipe.IN_LONG_WORK));
            Consumer consumer = Consumer.named(Mode.INLINE.consumer())
                    .key(defect.key())
                    .policy(Policy.defaults().withBatchLimits(BATCH, BATCH_BYTES))
                    .otherwise(handling::handle)
                    .build();
            Inbox told = ToldInbox.around(inbox, pipe, defect);
            try (Listening listening = WorkerPipe.patiently(() -> listen(consumer, told))) {
                announce(listening, pipe);
                while (!pipe.next().equals(WorkerPipe.QUIT)) {
                    // nothing else is said to a consumer
                }
            }
        }
    }

    private Listening listen(Consumer consumer, Inbox inbox) {
        return switch (defect) {
            case HIGHEST_OFFSET -> new HighestOffsets(kafka(), PARALLELISM, consumer, inbox);
            case AUTO_ACK -> AutoAck.listen(rabbit(), consumer, inbox);
            default ->
                switch (subject) {
                    case PIPELINE -> pipeline(consumer, inbox);
                    case RABBITMQ -> rabbit(consumer, inbox);
                    default -> kafka(BrokerServer.NAME, consumer, inbox);
                };
        };
    }

    private Listening pipeline(Consumer receiver, Inbox inbox) {
        Pipeline pipeline = new Pipeline(kafka(), defect);
        pipeline.relay(inbox);
        Listening first = kafka(BrokerServer.NAME, pipeline.publishing(), inbox);
        Listening last = kafka(Pipeline.OUT, receiver, inbox);
        return Listening.of(() -> first.isRunning() && last.isRunning(), () -> {
            first.close();
            last.close();
            pipeline.close();
        });
    }

    private Listening kafka(String topic, Consumer consumer, Inbox inbox) {
        Map<String, Object> config = new HashMap<>(kafka());
        config.put("group.id", topic);
        KafkaInboxListener listener = KafkaInbox.builder(config, List.of(topic), consumer, inbox)
                .parallelism(PARALLELISM)
                .retry(retry(Mode.RETRY))
                .drain(DRAIN)
                .listen();
        return Listening.of(() -> listener.state() == ListenerState.RUNNING, listener::close);
    }

    /** A member that is silent as long as a pause takes is taken for dead. */
    private Map<String, Object> kafka() {
        return Map.of(
                "bootstrap.servers",
                address,
                "group.id",
                BrokerServer.NAME,
                "session.timeout.ms",
                Math.toIntExact(Mode.LEASE.toMillis()),
                "heartbeat.interval.ms",
                300,
                "metadata.max.age.ms",
                1_000,
                "reconnect.backoff.max.ms",
                500);
    }

    private Listening rabbit(Consumer consumer, Inbox inbox) {
        RabbitInbox.Builder options = RabbitInbox.builder(rabbit(), BrokerServer.NAME, consumer, inbox)
                .parallelism(PARALLELISM)
                .prefetch(PREFETCH)
                .deadLetters(RabbitBroker.LETTERS_EXCHANGE, "")
                .drain(DRAIN);
        RabbitInboxListener listener = (ordered
                        ? options.keepOrder().retry(retry(Mode.RETRY))
                        : options.delays(RETRY_QUEUE).retry(retry(RETRY_QUEUE)))
                .listen();
        return Listening.of(() -> listener.state() == ListenerState.RUNNING, listener::close);
    }

    /** What never succeeds is set aside soon, so that its letter meets what keeps letters out. */
    private static RetryPolicy retry(Duration delay) {
        return Mode.retry(delay)
                .on(Mode.Poisoned.class, RetryPolicy.fixed(Mode.RETRY).withMaxAttempts(POISON_ATTEMPTS));
    }

    private ConnectionFactory rabbit() {
        ConnectionFactory factory = RabbitBroker.factory(address);
        factory.setRequestedHeartbeat(HEARTBEAT_SECONDS);
        return factory;
    }

    /** Says when it is at work, which may take a while, and the end of the campaign must be heard meanwhile. */
    private static void announce(Listening listening, WorkerPipe pipe) {
        Thread announcing = new Thread(() -> {
            try {
                while (!listening.isRunning()) {
                    Thread.sleep(LOOK_MILLIS);
                }
                pipe.say(WorkerPipe.READY);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        });
        announcing.setDaemon(true);
        announcing.start();
    }
}
