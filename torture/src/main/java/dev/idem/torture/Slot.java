package dev.idem.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A place in the pool of workers: starts a JVM, and lets it be killed or paused some time after it began to work, then
 * starts the next. Used by one thread.
 */
final class Slot {
    private static final int SHORT_PERCENT = 60;
    private static final int SHORT_LIFE_MILLIS = 800;
    private static final int LONG_LIFE_MILLIS = 8_000;
    private static final int LEAST_EXTRA_PAUSE_MILLIS = 500;
    private static final int LONGEST_EXTRA_PAUSE_MILLIS = 2_500;

    /** A pause waits so long for a worker to be in the middle of something. */
    private static final long AIM_NANOS = 3_000_000_000L;

    /** A worker that nobody gives anything to do is hit all the same, after a while. */
    private static final long IDLE_NANOS = 2_000_000_000L;

    /** A broker waits so long for a silent consumer. */
    private static final long SESSION_NANOS = 1_000_000_000L;

    private static final long QUIT_SECONDS = 20;

    private final int number;
    private final Random random;
    private final int pausePercent;
    private final Starting starting;
    private final Queue<Said> said;
    private @Nullable Process process;
    private @Nullable Writer in;
    private @Nullable Thread reader;
    private boolean ready;
    private long readyAt;
    private boolean pauses;
    private boolean aimed;
    private long strikeAt;
    private long resumeAt;
    private boolean struck;
    private boolean silent;
    private int kills;
    private int paused;
    private int blows;
    private int crashes;

    Slot(int number, long seed, int pausePercent, Starting starting, Queue<Said> said) {
        this.number = number;
        this.random = new Random(seed);
        this.pausePercent = pausePercent;
        this.starting = starting;
        this.said = said;
    }

    int number() {
        return number;
    }

    int kills() {
        return kills;
    }

    int pauses() {
        return paused;
    }

    /** How often it ended without being killed, which it never should. */
    int crashes() {
        return crashes;
    }

    boolean listens() {
        return ready && !struck;
    }

    boolean isPaused() {
        return struck;
    }

    void start() throws IOException {
        Process started = starting.start();
        process = started;
        in = started.outputWriter(StandardCharsets.UTF_8);
        Thread reading = new Thread(() -> read(started), "torture-" + number);
        reading.setDaemon(true);
        reading.start();
        reader = reading;
        ready = false;
        aimed = false;
        strikeAt = 0;
    }

    private void read(Process from) {
        try (BufferedReader out = from.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                said.add(new Said(this, line));
            }
        } catch (IOException dead) {
            // as good as the end
        }
    }

    void say(String line) {
        try {
            Writer writer = in;
            if (writer != null) {
                writer.write(line + "\n");
                writer.flush();
            }
        } catch (IOException dead) {
            // which will be noticed
        }
    }

    /** It has work to do, so from now on it may be hit. */
    void heard(String line, long now) {
        if (line.equals(WorkerPipe.READY)) {
            ready = true;
            readyAt = now;
        } else if (line.equals(WorkerPipe.IN_LONG_WORK)) {
            aimed = pauses && strikeAt != 0 && now - strikeAt >= 0;
        } else if (strikeAt == 0) {
            plan(now);
        }
    }

    private void plan(long now) {
        // The first blow at the first worker certainly is one, so that a short campaign has it as well.
        boolean certain = number == 0 && blows++ == 0 && pausePercent > 0;
        pauses = random.nextInt(100) < pausePercent || certain;
        // Short lives are hit while they find their way in; without longer ones nothing would get done.
        boolean early = random.nextInt(100) < SHORT_PERCENT;
        int longest = early ? SHORT_LIFE_MILLIS : LONG_LIFE_MILLIS;
        strikeAt = now + TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(longest));
    }

    /** Does what is due. True when the broker must take back what it delivered here. */
    boolean act(boolean mayhem, long now) throws IOException, InterruptedException {
        if (struck) {
            if (now - resumeAt >= 0) {
                signal("CONT");
                struck = false;
                silent = false;
                strikeAt = 0;
                readyAt = now;
            } else if (!silent && resumeAt - now < SESSION_NANOS) {
                silent = true;
                return true;
            }
            return false;
        }
        Process running = process;
        if (running == null || !running.isAlive()) {
            crashes++;
            restart();
            return true;
        }
        if (ready && strikeAt == 0 && now - readyAt > IDLE_NANOS) {
            plan(now);
        }
        if (!mayhem || strikeAt == 0 || now - strikeAt < 0) {
            return false;
        }
        if (pauses && !aimed && now - strikeAt < AIM_NANOS) {
            return false;
        }
        if (pauses) {
            aimed = false;
            signal("STOP");
            paused++;
            struck = true;
            resumeAt = now
                    + Mode.LEASE.toNanos()
                    + TimeUnit.MILLISECONDS.toNanos(
                            LEAST_EXTRA_PAUSE_MILLIS + random.nextInt(LONGEST_EXTRA_PAUSE_MILLIS));
            return false;
        }
        running.toHandle().destroyForcibly(); // unlike that of the process, it leaves the last lines readable
        kills++;
        restart();
        return true;
    }

    /** What it said before its end counts, so that is read to the end first. */
    private void restart() throws IOException, InterruptedException {
        if (process != null) {
            process.waitFor();
        }
        if (reader != null) {
            reader.join();
        }
        start();
    }

    private void signal(String name) throws IOException, InterruptedException {
        if (process != null) {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }
    }

    /** Lets it end by itself, so that it gives back what it has. */
    void askToQuit() throws IOException, InterruptedException {
        if (struck) {
            signal("CONT");
        }
        say(WorkerPipe.QUIT);
    }

    void awaitEnd() throws InterruptedException {
        Process running = process;
        if (running != null && !running.waitFor(QUIT_SECONDS, TimeUnit.SECONDS)) {
            running.destroyForcibly().waitFor();
        }
    }

    /** Something a worker said. */
    record Said(Slot slot, String line) {}

    /** Starts a process. */
    interface Starting {
        Process start() throws IOException;
    }
}
