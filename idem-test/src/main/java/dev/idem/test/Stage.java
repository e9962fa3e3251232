package dev.idem.test;

import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import dev.idem.test.IdempotencyTest.Delivery;
import dev.idem.test.fault.FaultyDataSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** What a scenario has at hand: processes of the service on the database, and how to deliver to several at once. */
final class Stage {
    private static final long TWIN_LIMIT_SECONDS = 120;

    private final Setting setting;
    private final Function<MarkerStore, List<Delivery>> service;
    private final int messages;

    /**
     * The stage of a test.
     *
     * @param service what a process that starts on this store delivers
     * @param messages how many that are
     */
    Stage(Setting setting, Function<MarkerStore, List<Delivery>> service, int messages) {
        this.setting = setting;
        this.service = service;
        this.messages = messages;
        if (messages == 0) {
            throw new IllegalArgumentException("There is no message to deliver");
        }
    }

    int messages() {
        return messages;
    }

    ServiceProcess start() {
        return start(FaultHook.NONE);
    }

    ServiceProcess start(FaultHook steps) {
        return start(setting.dataSource(), UnaryOperator.identity(), steps);
    }

    ServiceProcess start(UnaryOperator<MarkerStore> disguise) {
        return start(setting.dataSource(), disguise, FaultHook.NONE);
    }

    /** The store is made before anything is armed: its own start is not what is tested here. */
    ServiceProcess start(FaultyDataSource faulty) {
        ServiceProcess process = start(faulty, UnaryOperator.identity(), FaultHook.NONE);
        faulty.reset();
        return process;
    }

    /** The service sees the store itself, and the inbox what it is disguised as. */
    private ServiceProcess start(DataSource on, UnaryOperator<MarkerStore> disguise, FaultHook steps) {
        MarkerStore store = setting.store(on);
        return new ServiceProcess(disguise.apply(store), steps, service.apply(store));
    }

    FaultyDataSource faultyDataSource() {
        return FaultyDataSource.around(setting.dataSource());
    }

    /** Delivers one message so many times at the same moment, to two processes in turn. */
    void deliverTwins(ServiceProcess one, ServiceProcess two, int message, int count) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            CountDownLatch start = new CountDownLatch(count);
            List<Future<?>> twins = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ServiceProcess process = i % 2 == 0 ? one : two;
                twins.add(threads.submit(() -> {
                    start.countDown();
                    start.await();
                    process.deliver(message);
                    return message;
                }));
            }
            for (Future<?> twin : twins) {
                await(twin);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void await(Future<?> twin) throws Exception {
        try {
            twin.get(TWIN_LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof ServiceProcess.NotAcknowledged refused) {
                throw refused;
            }
            throw failure;
        } catch (TimeoutException stuck) {
            throw new IllegalStateException("a delivery did not end within " + TWIN_LIMIT_SECONDS + " s", stuck);
        }
    }
}
