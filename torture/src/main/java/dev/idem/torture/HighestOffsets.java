package dev.idem.torture;

import dev.idem.Consumer;
import dev.idem.Inbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A planted defect: a consumer written by hand that works in lanes and commits the highest offset that it has given them, as
 * a client left to itself would. What the lanes have not finished before it is lost with the process.
 */
final class HighestOffsets implements Listening {
    private static final Duration POLL = Duration.ofMillis(20);

    private final KafkaConsumer<byte[], byte[]> records;
    private final Consumer consumer;
    private final Inbox inbox;
    private final List<ExecutorService> lanes = new ArrayList<>();
    private final Thread polling = new Thread(this::poll, "torture-poll");
    private volatile boolean running;
    private volatile boolean closed;

    HighestOffsets(Map<String, Object> config, int parallelism, Consumer consumer, Inbox inbox) {
        Map<String, Object> all = new HashMap<>(config);
        all.put("enable.auto.commit", false);
        all.put("auto.offset.reset", "earliest");
        all.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        records = new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.consumer = consumer;
        this.inbox = inbox;
        for (int i = 0; i < parallelism; i++) {
            lanes.add(Executors.newSingleThreadExecutor());
        }
        polling.start();
    }

    private void poll() {
        records.subscribe(List.of(BrokerServer.NAME));
        while (!closed) {
            records.poll(POLL).forEach(this::begin);
            running = !records.assignment().isEmpty();
            records.commitAsync((offsets, failure) -> {}); // the next one says more
        }
        records.close();
    }

    private void begin(ConsumerRecord<byte[], byte[]> record) {
        int lane = Math.floorMod(Arrays.hashCode(record.key()), lanes.size());
        lanes.get(lane)
                .execute(() -> ToldInbox.untilDone(
                        inbox, consumer, Item.parse(record.value()).toMessage()));
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public void close() {
        closed = true;
        lanes.forEach(ExecutorService::shutdownNow);
    }
}
