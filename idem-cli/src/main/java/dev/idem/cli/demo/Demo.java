package dev.idem.cli.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Inbox;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Runs both lanes side by side over the same plan, then counts in the business tables. */
final class Demo {
    private static final long LOOK_MILLIS = 100;

    private final DemoSettings settings;
    private final PrintWriter out;
    private final boolean terminal;

    Demo(DemoSettings settings, PrintWriter out, boolean terminal) {
        this.settings = settings;
        this.out = out;
        this.terminal = terminal;
    }

    DemoReport run() throws Exception {
        try (var files = new DemoFiles();
                var children = new Children()) {
            // When the user interrupts, nothing below is unwound: the hook ends the processes first, then the files.
            var ending = new AtomicBoolean();
            var hook = new Thread(() -> {
                ending.set(true);
                children.close();
                files.close();
            });
            Runtime.getRuntime().addShutdownHook(hook);
            try (DemoStore store = settings.store().open();
                    DemoBroker broker = settings.broker().open()) {
                return run(new Stage(files, children, store, broker));
            } catch (Exception failure) {
                if (ending.get()) {
                    hook.join(); // the lanes failed because of the interruption, which is no error to report
                    new CountDownLatch(1).await();
                }
                throw failure;
            } finally {
                removeHook(hook);
            }
        }
    }

    private DemoReport run(Stage stage) throws Exception {
        DemoPlan plan = settings.plan();
        Side idem = side("idem", settings.idemSeat(), plan, stage);
        Side naive = side("naive", settings.naive(), plan, stage);
        var progress = new Progress(out, terminal, plan.publications().size());
        ExecutorService lanes = Executors.newFixedThreadPool(2);
        LaneResult ofIdem;
        LaneResult ofNaive;
        try {
            Future<LaneResult> first = lanes.submit(idem.lane);
            Future<LaneResult> second = lanes.submit(naive.lane);
            while (!hasEnded(first) || !hasEnded(second)) {
                Thread.sleep(LOOK_MILLIS);
                progress.show(idem.lane, naive.lane);
            }
            ofIdem = first.get();
            ofNaive = second.get();
        } finally {
            progress.end();
            lanes.shutdownNow();
        }
        return new DemoReport(
                settings.messages(),
                plan.publications().size(),
                ofIdem.deliveries(),
                ofIdem.kills(),
                settings.seed(),
                settings.store().label(),
                settings.broker().label(),
                settings.mode().label(),
                progress.seconds(),
                DemoReport.Seat.of(settings.idemSeat(), ofIdem, idem.ledger.count(plan), parked(idem)),
                DemoReport.Seat.of(settings.naive(), ofNaive, naive.ledger.count(plan), 0));
    }

    private Side side(String name, SeatKind seat, DemoPlan plan, Stage stage) throws Exception {
        String url = stage.store.createDatabase();
        var ledger = new Ledger(url);
        ledger.create();
        if (seat.isIdem()) {
            createTables(url);
        }
        Path log = stage.files.directory().resolve(name + ".log");
        if (stage.broker == null) {
            return new Side(url, new Lane(seat, url, plan, log, settings.verbose(), stage.children), ledger);
        }
        var start = new BrokerLane.Start(seat, url, stage.broker.publish(name, plan), log, settings.verbose());
        return new Side(url, new BrokerLane(start, plan, stage.broker, stage.children), ledger);
    }

    private static void createTables(String url) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        try (var pool = new HikariDataSource(config)) {
            JdbcSchema.of(pool).apply();
        }
    }

    private long parked(Side idem) {
        if (settings.idemSeat() != SeatKind.QUEUED) {
            return 0;
        }
        var config = new HikariConfig();
        config.setJdbcUrl(idem.url);
        try (var pool = new HikariDataSource(config);
                Inbox inbox = Inbox.create(JdbcStore.create(pool))) {
            return inbox.queueStats(QueuedSeat.CONSUMER).parked();
        }
    }

    /** True when it is done; throws what it threw, without waiting for the other lane. */
    private static boolean hasEnded(Future<LaneResult> lane) throws Exception {
        if (!lane.isDone()) {
            return false;
        }
        try {
            lane.get();
            return true;
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw failed;
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // It is running now.
        }
    }

    /** What both sides share; without a broker each lane is its own. */
    private record Stage(
            DemoFiles files,
            Children children,
            DemoStore store,
            @Nullable DemoBroker broker) {}

    private record Side(String url, Run lane, Ledger ledger) {}
}
