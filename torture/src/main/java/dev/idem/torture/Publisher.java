package dev.idem.torture;

import dev.idem.Message;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Publishes the plan, each lane in its order and not faster than it is told to, in a thread of its own. Thread-safe. */
final class Publisher implements AutoCloseable {
    private static final int LARGEST = 60;
    private static final long PAUSE_MILLIS = 10;
    private static final long END_MILLIS = 5_000;

    private final Plan plan;
    private final BrokerServer broker;
    private final Defect defect;
    private final int[] next;
    private final Set<Item> confirmed = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::run, "torture-publisher");
    private volatile double share;
    private volatile boolean done;
    private volatile @Nullable Exception failure;

    Publisher(Plan plan, BrokerServer broker, Defect defect) {
        this.plan = plan;
        this.broker = broker;
        this.defect = defect;
        next = new int[plan.lanes().size()];
        thread.setDaemon(true);
        thread.start();
    }

    /** How much is to be published by now, from 0 to 1. */
    void publish(double part) throws Exception {
        Exception problem = failure;
        if (problem != null) {
            throw problem;
        }
        share = part;
    }

    /** What the broker must not lose any more. */
    Set<Item> confirmed() {
        return confirmed;
    }

    boolean isDone() {
        return done;
    }

    private void run() {
        try {
            boolean all = false;
            while (!all) {
                all = true;
                boolean some = false;
                for (int lane = 0; lane < next.length; lane++) {
                    some |= publish(lane);
                    all &= next[lane] == plan.lanes().get(lane).size();
                }
                if (!some) {
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
            done = true;
        } catch (Exception problem) { // whatever it is, the campaign must hear of it
            failure = problem;
        }
    }

    private boolean publish(int lane) throws Exception {
        List<Item> stream = plan.lanes().get(lane);
        int due = Math.min((int) Math.ceil(stream.size() * share), next[lane] + LARGEST);
        if (due <= next[lane]) {
            return false;
        }
        List<Item> items = stream.subList(next[lane], due);
        List<Message> messages = items.stream().map(defect::delivered).toList();
        broker.publish(lane, messages);
        confirmed.addAll(items);
        next[lane] = due;
        return true;
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
