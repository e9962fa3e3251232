package dev.idem.cli.demo;

import dev.idem.cli.CliException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One seat's way through the plan: delivers, hears the answers, kills the consumer when the plan says so, starts it again
 * and delivers again what it had not acknowledged. Ends when everything is settled.
 */
final class Lane implements Run {
    private static final Duration TICK = Duration.ofMillis(5);
    private static final Duration SILENCE = Duration.ofSeconds(60);
    private static final int MOST_CRASHES = 3;
    private static final Duration ENDING = Duration.ofSeconds(20);

    /** What is stored is charged before the end, however much it is. */
    private static final Duration WORKING_OFF = Duration.ofHours(1);

    private final SeatKind seat;
    private final String url;
    private final Path log;
    private final boolean verbose;
    private final Children children;
    private final Broker broker;
    private final Kills kills;
    private volatile int settled;
    private volatile int killed;
    private boolean ready;
    private int crashes;
    private int failures;
    private long heard = System.nanoTime();

    Lane(SeatKind seat, String url, DemoPlan plan, Path log, boolean verbose, Children children) {
        this.seat = seat;
        this.url = url;
        this.log = log;
        this.verbose = verbose;
        this.children = children;
        broker = new Broker(plan);
        kills = new Kills(plan);
    }

    @Override
    public int settled() {
        return settled;
    }

    @Override
    public int killed() {
        return killed;
    }

    @Override
    public LaneResult call() throws InterruptedException {
        ConsumerProcess consumer = start();
        while (!broker.isDone()) {
            kills.advance(broker.settled(), System.nanoTime());
            if (ready) {
                deliver(consumer);
            }
            Answer answer = consumer.next(TICK);
            checkSilence(answer);
            if (answer instanceof Answer.Gone) {
                consumer = restart(consumer);
            } else if (answer instanceof Answer.Reached || (ready && kills.isOverdue(System.nanoTime()))) {
                hear(answer);
                consumer.kill();
                kills.killed();
                killed = kills.done();
                consumer = restart(consumer);
            } else {
                hear(answer);
            }
        }
        consumer.quit(seat == SeatKind.QUEUED ? WORKING_OFF : ENDING);
        for (Answer answer = consumer.next(Duration.ZERO); answer != null; answer = consumer.next(Duration.ZERO)) {
            hear(answer);
        }
        return broker.result(kills.done(), failures);
    }

    private ConsumerProcess start() {
        ready = false;
        return ConsumerProcess.start(children, ConsumerMain.class, seat, Map.of(ConsumerMain.URL, url), log, verbose);
    }

    /** What it said before its end counts; what it did not say comes again. */
    private ConsumerProcess restart(ConsumerProcess dead) throws InterruptedException {
        if (++crashes > MOST_CRASHES + killed) {
            throw new CliException(
                    "The " + seat.label() + " consumer ended by itself " + MOST_CRASHES + " times",
                    LogTail.of(log),
                    null);
        }
        dead.kill();
        for (Answer answer = dead.next(Duration.ZERO); answer != null; answer = dead.next(Duration.ZERO)) {
            hear(answer);
        }
        broker.takeBack();
        return start();
    }

    private void deliver(ConsumerProcess consumer) {
        while (broker.canDeliver()) {
            CrashWindow window = broker.nextIsFresh() ? kills.arm() : CrashWindow.NONE;
            consumer.deliver(broker.deliver(window));
        }
    }

    private void hear(@Nullable Answer answer) {
        if (answer instanceof Answer.Ready) {
            ready = true;
        } else if (answer instanceof Answer.Settled answered) {
            broker.settle(answered);
            settled = broker.settled();
        } else if (answer instanceof Answer.Failed) {
            failures++;
        }
    }

    private void checkSilence(@Nullable Answer answer) {
        long now = System.nanoTime();
        if (answer != null) {
            heard = now;
        } else if (now - heard > SILENCE.toNanos()) {
            throw new CliException(
                    "The " + seat.label() + " consumer said nothing for " + SILENCE.toSeconds() + " s",
                    LogTail.of(log),
                    null);
        }
    }
}
