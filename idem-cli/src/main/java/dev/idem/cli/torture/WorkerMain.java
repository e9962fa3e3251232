package dev.idem.cli.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Settlement;
import dev.idem.jdbc.JdbcStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A worker JVM: stores what comes on stdin, answers on stdout, and works off the queues. To be killed. */
public final class WorkerMain {
    private static final int RECEIVERS = 4;
    private static final long WAIT_MILLIS = 2_000;

    private final WorkerPipe pipe = new WorkerPipe();
    private final Defect defect;
    private final Map<Mode, Consumer> consumers = new EnumMap<>(Mode.class);
    private final Inbox inbox;

    private WorkerMain(HikariDataSource pool, Defect defect) throws InterruptedException {
        this.defect = defect;
        Handling handling = new Handling(pool, defect, () -> pipe.say(WorkerPipe.IN_LONG_WORK));
        inbox = WorkerPipe.patiently(() -> Inbox.create(JdbcStore.create(defect.around(pool))));
        for (Mode mode : Mode.QUEUED) {
            consumers.put(
                    mode,
                    Consumer.named(mode.consumer())
                            .key(defect.key())
                            .queued(mode.policy())
                            .otherwise(handling::handle)
                            .build());
        }
    }

    public static void main(String... args) throws Exception {
        Defect defect = Defect.valueOf(args[0]);
        try (HikariDataSource pool = WorkerPipe.pool(defect)) {
            new WorkerMain(pool, defect).serve();
        }
    }

    private void serve() throws InterruptedException {
        for (Consumer consumer : consumers.values()) {
            WorkerPipe.patiently(() -> {
                inbox.start(consumer);
                return inbox;
            });
        }
        ExecutorService receivers = Executors.newFixedThreadPool(RECEIVERS);
        pipe.say(WorkerPipe.READY);
        for (String line = pipe.next(); !WorkerPipe.QUIT.equals(line); line = pipe.next()) {
            String delivery = line;
            receivers.execute(() -> receive(delivery));
        }
        receivers.shutdown();
        receivers.awaitTermination(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        inbox.close();
    }

    private void receive(String delivery) {
        int space = delivery.indexOf(' ');
        long tag = Long.parseLong(delivery.substring(0, space));
        List<Item> items = new ArrayList<>();
        for (String item : delivery.substring(space + 1).split(" ", -1)) {
            items.add(Item.parse(item));
        }
        if (defect == Defect.EARLY_ACK) {
            pipe.say(new Answer(tag, Collections.nCopies(items.size(), true)).line());
        }
        List<Boolean> acknowledged = acknowledged(items);
        if (defect != Defect.EARLY_ACK) {
            pipe.say(new Answer(tag, acknowledged).line());
        }
    }

    private List<Boolean> acknowledged(List<Item> items) {
        try {
            return inbox
                    .acceptAll(
                            consumer(items.get(0).mode()),
                            items.stream().map(defect::delivered).toList())
                    .stream()
                    .map(outcome -> outcome.settlement() == Settlement.ACK)
                    .toList();
        } catch (RuntimeException failure) {
            failure.printStackTrace();
            return Collections.nCopies(items.size(), false);
        }
    }

    private Consumer consumer(Mode mode) {
        Consumer consumer = consumers.get(mode);
        if (consumer == null) {
            throw new IllegalArgumentException("no consumer for " + mode);
        }
        return consumer;
    }
}
