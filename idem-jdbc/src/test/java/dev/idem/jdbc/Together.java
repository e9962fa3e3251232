package dev.idem.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Threads of a test: each task has a thread of its own, and every wait has an end. */
public final class Together {
    private static final long LIMIT_SECONDS = 30;

    private Together() {}

    public static <T> Future<T> start(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, "together");
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** Starts n tasks at one moment and returns what they answer; the first exception is thrown. */
    public static <T> List<T> run(int n, Task<T> task) throws Exception {
        CyclicBarrier start = new CyclicBarrier(n);
        List<Future<T>> futures = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int index = i;
            futures.add(start(() -> {
                start.await(LIMIT_SECONDS, TimeUnit.SECONDS);
                return task.run(index);
            }));
        }
        List<T> answers = new ArrayList<>();
        for (Future<T> future : futures) {
            answers.add(get(future));
        }
        return answers;
    }

    public static <T> T get(Future<T> future) throws Exception {
        return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    public static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("waited too long");
        }
    }

    @FunctionalInterface
    public interface Task<T> {
        T run(int index) throws Exception;
    }
}
