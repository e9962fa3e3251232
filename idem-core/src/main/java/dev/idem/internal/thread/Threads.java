package dev.idem.internal.thread;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Starts threads, virtual ones where they are wanted and the platform has them. */
public final class Threads {
    private static final @Nullable MethodHandle VIRTUAL = virtual();
    private static final long AGAIN_AFTER = Duration.ofSeconds(1).toNanos();

    private Threads() {}

    public static Thread start(String name, boolean virtual, Runnable task) {
        Thread thread = virtual && VIRTUAL != null ? unstarted(VIRTUAL, task) : new Thread(task);
        thread.setName(name);
        if (!virtual || VIRTUAL == null) {
            thread.setDaemon(true);
        }
        thread.start();
        return thread;
    }

    /** Says that a background thread goes on after something that would have ended it; fails in no way. */
    public static void survived(Logger log, String what, Throwable failure) {
        try {
            log.error(what, failure);
        } catch (Throwable silenced) {
            // no memory even for a log line: going on is all that is left
        }
    }

    /** Does something again, once a second, until it has worked or nobody wants it any more; what failed is said once. */
    public static void untilDone(Logger log, String failed, BooleanSupplier wanted, Runnable task) {
        for (int failures = 0; ; failures++) {
            try {
                task.run();
                return;
            } catch (Throwable failure) {
                if (failures == 0) {
                    survived(log, failed, failure);
                }
                if (!wanted.getAsBoolean()) {
                    return;
                }
                pause();
            }
        }
    }

    /** Also on a thread that is interrupted, which would else not pause at all. */
    private static void pause() {
        boolean interrupted = Thread.interrupted();
        long until = System.nanoTime() + AGAIN_AFTER;
        for (long left = AGAIN_AFTER; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread unstarted(MethodHandle virtual, Runnable task) {
        try {
            return (Thread) virtual.invoke(task);
        } catch (Throwable impossible) {
            throw new LinkageError("a virtual thread cannot be made", impossible);
        }
    }

    /** Thread.ofVirtual().unstarted(task), which this release's baseline does not know. */
    private static @Nullable MethodHandle virtual() {
        try {
            Class<?> builder = Class.forName("java.lang.Thread$Builder");
            Class<?> ofVirtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            MethodHandle make = lookup.findStatic(Thread.class, "ofVirtual", MethodType.methodType(ofVirtual));
            MethodHandle unstarted =
                    lookup.findVirtual(builder, "unstarted", MethodType.methodType(Thread.class, Runnable.class));
            Object one = make.invoke();
            return unstarted.bindTo(one);
        } catch (Throwable older) {
            return null;
        }
    }
}
