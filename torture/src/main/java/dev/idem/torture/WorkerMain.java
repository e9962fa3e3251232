package dev.idem.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Settlement;
import dev.idem.jdbc.JdbcStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** A worker JVM: stores what comes on stdin, answers on stdout, and works off the queues. To be killed. */
public final class WorkerMain {
    private static final int RECEIVERS = 4;
    private static final String RECEIVER = "torture-receiver";
    private static final long WAIT_MILLIS = 2_000;

    private final WorkerPipe pipe = new WorkerPipe();
    private final Defect defect;
    private final Map<Mode, Consumer> consumers;
    private final Inbox inbox;

    private WorkerMain(HikariDataSource pool, Defect defect) throws InterruptedException {
        this.defect = defect;
        // Code is deployed while messages are half done: every other process has another version of it.
        boolean isNew = ThreadLocalRandom.current().nextBoolean();
        Handling handling = new Handling(pool, defect, isNew, () -> pipe.say(WorkerPipe.IN_LONG_WORK));
        DataSource jumping = Clock.around(pool, () -> {});
        DataSource planted = defect.around(jumping, edit -> pipe.say(WorkerPipe.PLANTED + edit));
        DataSource source = LateCommits.around(planted, RECEIVER);
        inbox = WorkerPipe.patiently(() -> Inbox.create(JdbcStore.create(source)));
        consumers = Consumers.of(handling, defect, isNew);
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
        ExecutorService receivers = Executors.newFixedThreadPool(RECEIVERS, task -> new Thread(task, RECEIVER));
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

    /** Large ones alone: those of one delivery would fill the memory together. */
    private List<Boolean> acknowledged(List<Item> items) {
        List<Boolean> acknowledged = new ArrayList<>();
        for (int next = 0; next < items.size(); ) {
            int end = next + 1;
            while (end < items.size() && !isLarge(items.get(end - 1)) && !isLarge(items.get(end))) {
                end++;
            }
            acknowledged.addAll(stored(items.subList(next, end)));
            next = end;
        }
        return acknowledged;
    }

    private static boolean isLarge(Item item) {
        return item.nature() == Item.Nature.LARGE;
    }

    private List<Boolean> stored(List<Item> items) {
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
