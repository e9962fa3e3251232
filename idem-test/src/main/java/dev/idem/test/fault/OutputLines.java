package dev.idem.test.fault;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The lines a process prints, collected by a thread so that the process never waits for a reader. */
final class OutputLines {
    private final List<String> lines = new ArrayList<>();
    private boolean ended;

    static OutputLines of(Process process) {
        var output = new OutputLines();
        Link.startDaemon("idem-forked-jvm-" + process.pid(), () -> output.collect(process));
        return output;
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    synchronized String waitFor(Predicate<String> wanted, Duration limit) throws InterruptedException {
        long start = System.nanoTime();
        int next = 0;
        while (true) {
            for (; next < lines.size(); next++) {
                if (wanted.test(lines.get(next))) {
                    return lines.get(next);
                }
            }
            long left = limit.toNanos() - (System.nanoTime() - start);
            if (ended || left <= 0) {
                String end = ended ? "before the process ended" : "within " + limit;
                throw new AssertionError("The line did not come " + end + "; printed: " + lines);
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Waits for the end of the output; not for ever, since a process started by the child may keep it open. */
    synchronized void waitForEnd(Duration limit) throws InterruptedException {
        long start = System.nanoTime();
        long left = limit.toNanos();
        while (!ended && left > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
            left = limit.toNanos() - (System.nanoTime() - start);
        }
    }

    private void collect(Process process) {
        try (BufferedReader reader = process.inputReader()) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException brokeOff) {
            add("(output broke off: " + brokeOff.getMessage() + ")");
        } finally {
            end();
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }
}
