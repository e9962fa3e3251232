package dev.idem;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Starts threads, virtual ones where they are wanted and the platform has them. */
final class Threads {
    private static final @Nullable MethodHandle VIRTUAL = virtual();

    private Threads() {}

    static Thread start(String name, boolean virtual, Runnable task) {
        Thread thread = virtual && VIRTUAL != null ? unstarted(VIRTUAL, task) : new Thread(task);
        thread.setName(name);
        if (!virtual || VIRTUAL == null) {
            thread.setDaemon(true);
        }
        thread.start();
        return thread;
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
