package dev.idem.cli.demo;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.kafka.KafkaInbox;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic as a group with its name. A member that was killed is known again at once by its instance id. */
record KafkaClient(Place place) implements BrokerClient {
    static final String ID = "ce_id";
    private static final Duration POLL = Duration.ofMillis(100);

    private Map<String, Object> config() {
        return Map.of(
                "bootstrap.servers", place.address(),
                "group.id", place.name(),
                "group.instance.id", "one",
                "auto.offset.reset", "earliest",
                "enable.auto.commit", "false",
                "max.poll.records", "50");
    }

    @Override
    public AutoCloseable listen(Consumer consumer, Inbox inbox) {
        return KafkaInbox.builder(config(), List.of(place.name()), consumer, inbox)
                .parallelism(ConsumerMain.WORKERS)
                .maxPending(100)
                .listen();
    }

    /** Polls, lets all threads work, and commits when they are through. */
    @Override
    public AutoCloseable loop(ByHand byHand) {
        var consumer = new KafkaConsumer<>(config(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(place.name()));
        ExecutorService workers = Executors.newFixedThreadPool(ConsumerMain.WORKERS);
        var loop = new Thread(() -> {
            try (consumer) {
                while (!workers.isShutdown()) {
                    List<Callable<Boolean>> polled = new ArrayList<>();
                    consumer.poll(POLL).forEach(record -> polled.add(() -> byHand.take(delivery(record))));
                    if (!polled.isEmpty()) {
                        finish(workers, polled);
                        consumer.commitSync();
                    }
                }
            } catch (InterruptedException | ExecutionException failure) {
                throw new IllegalStateException(failure); // ends the process, which is started again
            }
        });
        loop.start();
        return () -> {
            workers.shutdown();
            loop.join();
        };
    }

    /** Until each of them is done: what failed is done again, because offsets know no gaps. */
    private static void finish(ExecutorService workers, List<Callable<Boolean>> polled)
            throws InterruptedException, ExecutionException {
        List<Callable<Boolean>> todo = polled;
        while (!todo.isEmpty()) {
            List<Future<Boolean>> answers = workers.invokeAll(todo);
            List<Callable<Boolean>> again = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                if (!answers.get(i).get()) {
                    again.add(todo.get(i));
                }
            }
            todo = again;
        }
    }

    private static Delivery delivery(ConsumerRecord<byte[], byte[]> record) {
        return Delivery.of(text(record, Delivery.KNOBS), text(record, ID), record.value());
    }

    private static String text(ConsumerRecord<byte[], byte[]> record, String header) {
        return new String(record.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
    }
}
