package dev.idem.test.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What happens to the bytes of one direction, on all connections of a proxy. */
final class Lane {
    private boolean stalled;
    private Duration delay = Duration.ZERO;
    private @Nullable Trap trap;
    private long bytes;

    synchronized void stall(boolean on) {
        stalled = on;
        notifyAll();
    }

    synchronized void delay(Duration time) {
        delay = time;
        notifyAll();
    }

    synchronized void arm(Trap next) {
        trap = next;
    }

    synchronized void heal() {
        trap = null;
        stalled = false;
        delay = Duration.ZERO;
        notifyAll();
    }

    synchronized void wake() {
        notifyAll();
    }

    synchronized long bytes() {
        return bytes;
    }

    /**
     * Holds a chunk that has just arrived for as long as the lane is stalled or slow, or until its connection is gone.
     */
    synchronized void admit(Link link) throws InterruptedException {
        long arrived = System.nanoTime();
        while (!link.isClosed()) {
            long left = delay.toNanos() - (System.nanoTime() - arrived);
            if (stalled) {
                wait();
            } else if (left > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } else {
                return;
            }
        }
    }

    synchronized Verdict judge(Link link, byte[] chunk, int length) {
        Trap waiting = trap;
        Verdict sprung = waiting == null ? null : waiting.spring(link, chunk, length);
        if (sprung != null) {
            trap = null;
        }
        Verdict verdict = sprung == null ? new Verdict(length, Verdict.Action.FLOW) : sprung;
        bytes += verdict.pass();
        return verdict;
    }
}
