package dev.idem.torture;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Lets messages flow and everything be hit, and then waits until everything is worked off. Used by one thread. */
final class Campaign implements AutoCloseable {
    private static final long TICK_MILLIS = 3;
    private static final double AT_FIRST = 0.3;
    private static final Duration SPEAKS_EVERY = Duration.ofSeconds(10);
    private static final Duration LOOKS_EVERY = Duration.ofMillis(500);

    /** Working off ends when nothing has changed for so long: longer than every lease, sweep and pause. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** A call that began before, in a worker that was paused perhaps, has reached the provider by then. */
    private static final Duration CALLS_TAKE = Duration.ofSeconds(1);

    private static final Duration TWO_SWEEPS = Duration.ofSeconds(12);

    private final TortureSettings settings;
    private final Plan plan;
    private final String url;
    private final PrintWriter out;
    private final Random seeds;
    private final Traffic traffic;
    private final Mayhem mayhem;
    private final List<Slot> slots = new ArrayList<>();
    private final LinkedBlockingQueue<Slot.Said> said = new LinkedBlockingQueue<>();
    private final long began = System.nanoTime();
    private long spoke = began;
    private long heard;
    private long judged = began;
    private boolean found;
    private final BitSet planted = new BitSet();

    Campaign(Stage stage, PrintWriter out) {
        settings = stage.settings();
        plan = stage.plan();
        url = stage.url();
        this.out = out;
        seeds = new Random(settings.seed());
        traffic = stage.traffic(seeds.nextLong());
        mayhem = new Mayhem(stage.victim(), stage.proxy(), seeds.nextLong(), settings, began);
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
        checkPlanted();
    }

    /** A mistake that was never made could not be found, and says nothing. */
    private void checkPlanted() {
        List<EditedSql.Edit> edits = settings.defect().edits();
        for (int i = 0; i < edits.size() && !found; i++) {
            if (!planted.get(i)) {
                throw new IllegalStateException(
                        "The defect " + settings.defect().label() + " was not planted: no statement contains "
                                + edits.get(i).right());
            }
        }
    }

    /** Goes on until there were blows enough, but not for ever: then the verdict says what is missing. */
    private boolean isMayhem() {
        long passed = System.nanoTime() - began;
        boolean enough = sum(Slot::kills) >= settings.kills() && mayhem.serverKills() >= settings.serverKills();
        boolean over = enough && (traffic.isDone() || passed > settings.length().toNanos());
        return !over && !found && passed < settings.bound().toNanos();
    }

    /** A planted defect need not be seen twice. What is lost is known only at the end, so that goes on. */
    private void look() throws Exception {
        long now = System.nanoTime();
        if (settings.isPlanted() && !mayhem.isRestarting() && now - judged > LOOKS_EVERY.toNanos()) {
            judged = now;
            Verdict verdict = Business.judge(url, plan, traffic.accepted(), Set.of());
            found = verdict.doubled() > 0
                    || verdict.calledTwice() > 0
                    || verdict.outOfOrder() > 0
                    || sum(Slot::crashes) > 0;
        }
    }

    /** How much is published by now: as time goes by, but some is kept back until enough workers were killed at work. */
    private double share(boolean hits, long now) {
        if (found) {
            return 0;
        }
        double time = (double) (now - began) / settings.length().toNanos();
        double blows = Math.min(
                (double) sum(Slot::kills) / settings.kills(), (double) mayhem.serverKills() / settings.serverKills());
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
                traffic.takeBack(slot.number(), now);
            }
        }
        traffic.flow(share(hits, now), slots, now);
        if (now - spoke > SPEAKS_EVERY.toNanos()) {
            spoke = now;
            speak();
        }
    }

    private void hear(Slot.@Nullable Said next) {
        if (next != null && next.line().startsWith(WorkerPipe.PLANTED)) {
            planted.set(Integer.parseInt(next.line().substring(WorkerPipe.PLANTED.length())));
        } else if (next != null) {
            long now = System.nanoTime();
            next.slot().heard(next.line(), now);
            heard += traffic.hear(next.line(), now) ? 1 : 0;
        }
    }

    /** Nobody is hit any more. Ends when all is as planned, or nothing has moved for a long time. */
    private void workOff() throws Exception {
        long moved = System.nanoTime();
        long looked = moved;
        long before = -1;
        long disturbed = moved;
        Duration patience = PATIENCE;
        while (System.nanoTime() - moved < patience.toNanos()) {
            turn(false);
            disturbed = slots.stream().noneMatch(Slot::isPaused) ? disturbed : System.nanoTime();
            if (System.nanoTime() - looked > LOOKS_EVERY.toNanos()) {
                looked = System.nanoTime();
                traffic.settle(looked - disturbed > CALLS_TAKE.toNanos());
                long effects = Business.effects(url);
                Traffic.Rest rest = traffic.rest(effects);
                if (rest.idle() && (found || rest.asPlanned())) {
                    return;
                }
                patience = found || (traffic.isDone() && rest.idle()) ? TWO_SWEEPS : PATIENCE;
                long state = effects * 31 + rest.left() * 7 + traffic.accepted().size();
                moved = state == before ? moved : looked;
                before = state;
            }
        }
        out.println("  nothing moves any more: " + what());
    }

    private int sum(ToIntFunction<Slot> number) {
        return slots.stream().mapToInt(number).sum();
    }

    private void speak() {
        out.printf("  %3d s: %s%n", (System.nanoTime() - began) / 1_000_000_000, what());
        out.flush();
    }

    private String what() {
        return "accepted " + traffic.accepted().size() + " of " + settings.messages() + ", " + traffic.deliveries()
                + " deliveries; process kills " + sum(Slot::kills) + ", pauses " + sum(Slot::pauses) + ", "
                + settings.subject().server() + " kills " + mayhem.serverKills() + ", cuts " + mayhem.cuts();
    }

    Report report(long start) throws Exception {
        double seconds = Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0;
        Verdict verdict = Business.judge(url, plan, traffic.accepted(), traffic.changed());
        return traffic.report(
                settings,
                new Traffic.Numbers(
                        seconds,
                        sum(Slot::kills),
                        sum(Slot::pauses),
                        sum(Slot::crashes),
                        mayhem.serverKills(),
                        mayhem.cuts(),
                        mayhem.jumps(),
                        mayhem.letterOutages(),
                        verdict));
    }

    @Override
    public void close() {
        mayhem.close();
        traffic.close();
    }
}
