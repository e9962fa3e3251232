package dev.idem.cli.demo;

import dev.idem.Settlement;
import dev.idem.cli.CliException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One seat's way through the plan with a real broker, which delivers by itself. This kills the consumer when the plan says
 * so and starts it again, and ends when the broker has nothing unacknowledged left.
 */
final class BrokerLane implements Run {
    private static final Duration TICK = Duration.ofMillis(5);
    private static final long LOOK_NANOS = Duration.ofMillis(200).toNanos();
    private static final Duration SILENCE = Duration.ofSeconds(90);
    private static final Duration ENDING = Duration.ofSeconds(20);
    private static final int MOST_CRASHES = 3;

    private final Start start;
    private final DemoBroker broker;
    private final Children children;
    private final Kills kills;
    private volatile long left;
    private volatile int killed;
    private boolean ready;
    private int crashes;
    private int answered;
    private int duplicates;
    private int deadLettered;
    private long heard = System.nanoTime();
    private long looked = System.nanoTime();

    /** How a consumer is started. */
    record Start(SeatKind seat, String url, Place place, Path log, boolean verbose) {}

    BrokerLane(Start start, DemoPlan plan, DemoBroker broker, Children children) {
        this.start = start;
        this.broker = broker;
        this.children = children;
        kills = new Kills(plan);
        left = start.place.messages();
    }

    @Override
    public int settled() {
        return (int) (start.place.messages() - left);
    }

    @Override
    public int killed() {
        return killed;
    }

    @Override
    public LaneResult call() throws Exception {
        ConsumerProcess consumer = start();
        while (left > 0) {
            arm(consumer);
            Answer answer = consumer.next(TICK);
            hear(answer);
            if (answer instanceof Answer.Reached || (ready && kills.isOverdue(System.nanoTime()))) {
                kills.killed();
                killed = kills.done();
                consumer = restart(consumer);
            } else if (answer instanceof Answer.Gone) {
                checkCrashes();
                consumer = restart(consumer);
            }
            look();
        }
        consumer.quit(ENDING);
        hearRest(consumer);
        long again = Math.max(0, answered - start.place.messages());
        return new LaneResult(answered, again, duplicates, kills.done(), deadLettered, 0);
    }

    private ConsumerProcess start() {
        ready = false;
        Map<String, String> environment = Map.of(ConsumerMain.URL, start.url, ListenerMain.BROKER, start.place.line());
        return ConsumerProcess.start(children, ListenerMain.class, start.seat, environment, start.log, start.verbose);
    }

    private void arm(ConsumerProcess consumer) {
        kills.advance(answered, System.nanoTime());
        CrashWindow window = ready ? kills.arm() : CrashWindow.NONE;
        if (window != CrashWindow.NONE) {
            consumer.arm(window);
        }
    }

    private ConsumerProcess restart(ConsumerProcess dead) throws InterruptedException {
        dead.kill();
        hearRest(dead);
        return start();
    }

    private void look() throws Exception {
        long now = System.nanoTime();
        if (now - looked > LOOK_NANOS) {
            looked = now;
            left = broker.left(start.place);
        }
    }

    private void hearRest(ConsumerProcess ended) throws InterruptedException {
        for (Answer answer = ended.next(Duration.ZERO); answer != null; answer = ended.next(Duration.ZERO)) {
            hear(answer);
        }
    }

    private void hear(@Nullable Answer answer) {
        if (answer != null) {
            heard = System.nanoTime();
        } else if (System.nanoTime() - heard > SILENCE.toNanos()) {
            throw problem("said nothing for " + SILENCE.toSeconds() + " s");
        }
        if (answer instanceof Answer.Ready) {
            ready = true;
        } else if (answer instanceof Answer.Settled settled) {
            answered++;
            duplicates += settled.duplicate() ? 1 : 0;
            deadLettered += settled.settlement() == Settlement.DEAD_LETTER ? 1 : 0;
        }
    }

    private void checkCrashes() {
        if (++crashes > MOST_CRASHES) {
            throw problem("ended by itself " + crashes + " times");
        }
    }

    private CliException problem(String what) {
        return new CliException("The " + start.seat.label() + " consumer " + what, LogTail.of(start.log), null);
    }
}
