package dev.idem.torture;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.broker.Relay;
import dev.idem.kafka.KafkaPublisher;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The first half of a pipeline: for each message that comes, one is published through an outbox to another topic, where the
 * receiver's effects are counted. Thread-safe.
 */
final class Pipeline implements AutoCloseable {
    /** The topic that the outbox is relayed to, and the group that reads it. */
    static final String OUT = BrokerServer.NAME + "-out";

    private static final Outbox OUTBOX = Outbox.named(BrokerServer.NAME);
    private static final int BATCH = 50;
    private static final long BATCH_BYTES = 1 << 20;
    private static final Duration POLL = Duration.ofMillis(250);
    private static final long AFTER_MILLIS = 20;

    private final KafkaPublisher publisher;
    private final Defect defect;
    private final ScheduledExecutorService afterwards = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "torture-afterwards");
        thread.setDaemon(true);
        return thread;
    });

    Pipeline(Map<String, Object> config, Defect defect) {
        publisher = KafkaPublisher.to(OUT, config);
        this.defect = defect;
    }

    void relay(Inbox inbox) {
        inbox.start(Relay.of(
                OUTBOX,
                publisher,
                QueuePolicy.inTransaction()
                        .withWorkers(2)
                        .withBatch(BATCH)
                        .withPoll(POLL)
                        .withRetry(Mode.retry(Mode.RETRY))));
    }

    Consumer publishing() {
        return Consumer.named("torture-pipeline")
                .publishesTo(OUTBOX)
                .policy(Policy.defaults()
                        .withBatchLimits(BATCH, BATCH_BYTES)
                        .withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .otherwise(this::publish)
                .build();
    }

    private String publish(Message input, Transaction tx) {
        Message output = Message.builder()
                .orderingKey(input.orderingKey().orElse(null))
                .payload(input.payload())
                .build();
        if (defect == Defect.AFTER_COMMIT) {
            Message named = output.toBuilder().id(tx.outputId("output")).build();
            ScheduledFuture<?> ignored =
                    afterwards.schedule(() -> publishAlone(named), AFTER_MILLIS, TimeUnit.MILLISECONDS);
        } else {
            tx.publish(OUTBOX.name(), output);
        }
        return "";
    }

    /** In order, and again until it is confirmed: only the end of the process loses it. */
    private @Nullable Void publishAlone(Message output) throws InterruptedException {
        while (!publisher.publish(List.of(output)).isEmpty()) {
            Thread.sleep(AFTER_MILLIS);
        }
        return null;
    }

    @Override
    public void close() {
        afterwards.shutdownNow();
        publisher.close();
    }
}
