package dev.idem.test;

import dev.idem.spi.FaultHook;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import java.io.PrintStream;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes a unit die at a named step, so that a test can deliver the message again and look. Fires once, at the n-th time
 * that step is reached, and is harmless before and after. Thread-safe.
 *
 * <pre>{@code
 * CrashPoint crash = CrashPoint.at(Step.BEFORE_COMMIT).throwException();
 * Inbox inbox = Inbox.builder(store).steps(crash).build();
 * }</pre>
 *
 * <p>An exception and an error test that this process cleans up. {@link Builder#halt} and {@link Builder#awaitKill} end a
 * process that was started for it, without any clean-up, as a power cut would.
 */
public final class CrashPoint implements FaultHook {
    /** What a process that was halted here ends with. */
    public static final int HALT_STATUS = 86;

    /** What {@link Builder#awaitKill} prints, followed by the step's name. */
    public static final String READY_TO_DIE = "ready to die ";

    private final FaultPoint step;
    private final int time;
    private final Runnable death;
    private final AtomicInteger reached = new AtomicInteger();

    private CrashPoint(FaultPoint step, int time, Runnable death) {
        this.step = step;
        this.time = time;
        this.death = death;
    }

    public static Builder at(FaultPoint step) {
        return new Builder(step);
    }

    @Override
    public void at(FaultPoint now, MarkerKey key) {
        if (now == step && reached.incrementAndGet() == time) {
            death.run();
        }
    }

    /** Whether the step was reached often enough; a test in which it was not has tested nothing. */
    public boolean fired() {
        return reached.get() >= time;
    }

    /** Chooses when and how. Not thread-safe. */
    public static final class Builder {
        private final FaultPoint step;
        private int time = 1;

        private Builder(FaultPoint step) {
            this.step = Objects.requireNonNull(step, "step");
        }

        /** At the n-th time the step is reached, counted from 1 over all messages; default the first. */
        public Builder time(int n) {
            if (n < 1) {
                throw new IllegalArgumentException("time is " + n + ", but the first time is 1");
            }
            time = n;
            return this;
        }

        /** Throws a {@link CrashException}. */
        public CrashPoint throwException() {
            return with(() -> {
                throw new CrashException("Crash at " + step);
            });
        }

        /** Throws a {@link CrashError}, which no {@code catch (Exception)} sees. */
        public CrashPoint throwError() {
            return with(() -> {
                throw new CrashError("Crash at " + step);
            });
        }

        /** Ends the process at once, without finally blocks and shutdown hooks, with {@link #HALT_STATUS}. */
        public CrashPoint halt() {
            return with(() -> Runtime.getRuntime().halt(HALT_STATUS));
        }

        /** Says so on standard output, and then waits for ever for somebody to kill the process. */
        public CrashPoint awaitKill() {
            return awaitKill(System.out);
        }

        /** Says so on that stream, and then waits for ever for somebody to kill the process. */
        public CrashPoint awaitKill(PrintStream announcement) {
            return with(() -> {
                announcement.println(READY_TO_DIE + step);
                announcement.flush();
                waitForEver();
            });
        }

        /** Does anything else. */
        public CrashPoint with(Runnable death) {
            return new CrashPoint(step, time, Objects.requireNonNull(death, "death"));
        }

        private static void waitForEver() {
            CountDownLatch never = new CountDownLatch(1);
            while (true) {
                try {
                    never.await();
                } catch (InterruptedException notYet) {
                    // Only a kill ends this: an interrupt is a clean-up, and the test is about having none.
                }
            }
        }
    }

    /** Thrown at a crash point. */
    public static final class CrashException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CrashException(String message) {
            super(message);
        }
    }

    /** Thrown at a crash point. */
    public static final class CrashError extends Error {
        private static final long serialVersionUID = 1L;

        CrashError(String message) {
            super(message);
        }
    }
}
