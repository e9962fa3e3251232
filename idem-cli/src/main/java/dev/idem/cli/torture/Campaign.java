package dev.idem.cli.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.QueueStats;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.PostgresServer;
import dev.idem.spi.QueueStore;
import dev.idem.test.fault.TcpFaultProxy;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Plays the broker, lets everything be hit, and then waits until everything is worked off. Used by one thread. */
final class Campaign implements AutoCloseable {
    private static final long TICK_MILLIS = 3;
    private static final double AT_FIRST = 0.3;
    private static final Duration SPEAKS_EVERY = Duration.ofSeconds(10);
    private static final Duration LOOKS_EVERY = Duration.ofMillis(500);

    /** Working off ends when nothing has changed for so long: longer than every lease, sweep and pause. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final Duration TWO_SWEEPS = Duration.ofSeconds(12);

    private final TortureSettings settings;
    private final Plan plan;
    private final String url;
    private final PrintWriter out;
    private final Random seeds;
    private final Broker broker;
    private final Mayhem mayhem;
    private final HikariDataSource pool;
    private final JdbcStore store;
    private final List<Slot> slots = new ArrayList<>();
    private final LinkedBlockingQueue<Slot.Said> said = new LinkedBlockingQueue<>();
    private final long began = System.nanoTime();
    private long spoke = began;
    private long heard;
    private long judged = began;
    private boolean found;

    Campaign(
            TortureSettings settings,
            Plan plan,
            PostgresServer server,
            TcpFaultProxy proxy,
            String url,
            PrintWriter out) {
        this.settings = settings;
        this.plan = plan;
        this.url = url;
        this.out = out;
        seeds = new Random(settings.seed());
        broker = new Broker(plan, seeds.nextLong());
        mayhem = new Mayhem(server, proxy, seeds.nextLong(), settings, began);
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        store = JdbcStore.create(pool);
    }

    void run(Slot.Starting starting) throws Exception {
        for (int i = 0; i < settings.workers(); i++) {
            Slot slot = new Slot(i, seeds.nextLong(), settings.defect().pausePercent(), starting, said);
            slots.add(slot);
            slot.start();
        }
        while (isMayhem()) {
            mayhem.act(System.nanoTime(), heard);
            turn(true);
            look();
        }
        mayhem.end();
        workOff();
        for (Slot slot : slots) {
            slot.askToQuit();
        }
        for (Slot slot : slots) {
            slot.awaitEnd();
        }
    }

    /** Goes on until there were blows enough, but not for ever: then the verdict says what is missing. */
    private boolean isMayhem() {
        long passed = System.nanoTime() - began;
        boolean enough = sum(Slot::kills) >= settings.jvmKills() && mayhem.databaseKills() >= settings.databaseKills();
        boolean over = enough && (broker.isDone() || passed > settings.length().toNanos());
        return !over && !found && passed < settings.bound().toNanos();
    }

    /** A planted defect need not be seen twice. What is lost is known only at the end, so that goes on. */
    private void look() throws Exception {
        long now = System.nanoTime();
        if (settings.isPlanted() && !mayhem.isRestarting() && now - judged > LOOKS_EVERY.toNanos()) {
            judged = now;
            Verdict verdict = Business.judge(url, plan, broker.accepted());
            found = verdict.doubled() > 0 || verdict.outOfOrder() > 0;
        }
    }

    /** How much is published by now: as time goes by, but some is kept back until enough workers were killed at work. */
    private double share(boolean hits, long now) {
        if (found) {
            return 0;
        }
        double time = (double) (now - began) / settings.length().toNanos();
        double blows = Math.min(
                (double) sum(Slot::kills) / settings.jvmKills(),
                (double) mayhem.databaseKills() / settings.databaseKills());
        return hits ? Math.min(time, AT_FIRST + (1 - AT_FIRST) * blows) : 1;
    }

    private void turn(boolean hits) throws Exception {
        hear(said.poll(TICK_MILLIS, TimeUnit.MILLISECONDS));
        for (Slot.Said next = said.poll(); next != null; next = said.poll()) {
            hear(next);
        }
        long now = System.nanoTime();
        for (Slot slot : slots) {
            if (slot.act(hits, now)) {
                broker.takeBack(slot.number(), now);
            }
        }
        List<Integer> listening =
                slots.stream().filter(Slot::listens).map(Slot::number).toList();
        broker.deliver(share(hits, now), listening, now)
                .forEach(delivery -> slots.get(delivery.slot()).deliver(delivery));
        if (now - spoke > SPEAKS_EVERY.toNanos()) {
            spoke = now;
            speak();
        }
    }

    private void hear(Slot.@Nullable Said next) {
        if (next != null) {
            long now = System.nanoTime();
            next.slot().heard(next.line(), now);
            Answer.parse(next.line()).ifPresent(answer -> {
                heard++;
                broker.hear(answer, now);
            });
        }
    }

    /** Nobody is hit any more. Ends when all is as planned, or nothing has moved for a long time. */
    private void workOff() throws Exception {
        long moved = System.nanoTime();
        long looked = moved;
        long before = -1;
        Duration patience = PATIENCE;
        while (System.nanoTime() - moved < patience.toNanos()) {
            turn(false);
            if (System.nanoTime() - looked > LOOKS_EVERY.toNanos()) {
                looked = System.nanoTime();
                long effects = Business.effects(url);
                long left = stats(QueueStats::pending) + stats(QueueStats::inProgress) + stats(QueueStats::retryable);
                boolean onlyHeld = left == stats(QueueStats::held);
                if (onlyHeld
                        && (found || (broker.isDone() && left <= plan.blocked().size()))) {
                    return;
                }
                // What only waits behind others is looked at by every sweep.
                patience = found || (broker.isDone() && onlyHeld) ? TWO_SWEEPS : PATIENCE;
                long state = effects * 31 + left * 7 + broker.accepted().size();
                moved = state == before ? moved : looked;
                before = state;
            }
        }
        out.println("  nothing moves any more: " + what());
    }

    private long stats(ToLongFunction<QueueStats> number) {
        QueueStore queue = store.queue();
        long sum = 0;
        for (Mode mode : Mode.values()) {
            sum += number.applyAsLong(queue.stats(mode.consumer()));
        }
        return sum;
    }

    private int sum(ToIntFunction<Slot> number) {
        return slots.stream().mapToInt(number).sum();
    }

    private void speak() {
        out.printf("  %3d s: %s%n", (System.nanoTime() - began) / 1_000_000_000, what());
        out.flush();
    }

    private String what() {
        return "accepted " + broker.accepted().size() + " of " + settings.messages() + " in " + broker.deliveries()
                + " deliveries; JVM kills " + sum(Slot::kills) + ", pauses " + sum(Slot::pauses) + ", database kills "
                + mayhem.databaseKills() + ", cuts " + mayhem.cuts();
    }

    TortureReport report(long start) throws SQLException {
        Verdict verdict = Business.judge(url, plan, broker.accepted());
        return new TortureReport(
                settings.seed(),
                settings.isPlanted() ? settings.defect().label() : null,
                Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0,
                settings.messages(),
                broker.deliveries(),
                broker.duplicates(),
                sum(Slot::kills),
                sum(Slot::pauses),
                mayhem.databaseKills(),
                mayhem.cuts(),
                verdict.lost(),
                verdict.doubled(),
                verdict.outOfOrder(),
                stats(QueueStats::parked),
                plan.parked(),
                stats(QueueStats::held),
                plan.blocked().size(),
                broker.unaccepted(),
                settings.command());
    }

    @Override
    public void close() {
        mayhem.close();
        store.close();
        pool.close();
    }
}
