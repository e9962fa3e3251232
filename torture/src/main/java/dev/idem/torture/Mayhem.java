package dev.idem.torture;

import dev.idem.test.fault.Cut;
import dev.idem.test.fault.Direction;
import dev.idem.test.fault.TcpFaultProxy;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Kills the database or the broker, cuts connections and keeps dead letters out, at moments that the seed decides. Used by one thread. */
final class Mayhem implements AutoCloseable {
    private static final int LONGEST_OUTAGE_MILLIS = 1_000;
    private static final int LONGEST_BETWEEN_CUTS_MILLIS = 1_500;
    private static final int ALL_PERCENT = 5;
    private static final int CLOSING_PERCENT = 15;
    private static final int CLOCK_PERCENT = 25;
    private static final int LARGEST_JUMP_MILLIS = 3_000; // beyond every lease

    /** The cut that certainly is a jump of the clock, so that a short campaign has one as well. */
    private static final int CERTAIN_JUMP = 4;

    private static final int WORTH_A_BLOW = 5;
    private static final int LEAST_WITHOUT_LETTERS_MILLIS = 1_000;
    private static final int MORE_WITHOUT_LETTERS_MILLIS = 2_000;
    private static final int LONGEST_WITH_LETTERS_MILLIS = 1_500;
    private static final long AT_THE_LATEST_NANOS = 5_000_000_000L;

    private final Victim victim;
    private final TcpFaultProxy proxy;
    private final Random random;
    private final int mostKills;
    private final long betweenKills;
    private final ExecutorService restarts = Executors.newSingleThreadExecutor();
    private @Nullable Future<?> restart;
    private long heardBefore = -WORTH_A_BLOW;
    private long struckAt;
    private long nextKill;
    private long nextCut;
    private long nextLetters;
    private boolean withoutLetters;
    private int letterOutages;
    private int kills;
    private int closings;
    private int jumps;
    private int strokes;

    Mayhem(Victim victim, TcpFaultProxy proxy, long seed, TortureSettings settings, long now) {
        this.victim = victim;
        this.proxy = proxy;
        this.random = new Random(seed);
        mostKills = settings.serverKills();
        betweenKills = settings.betweenServerKills().toNanos();
        nextKill = now + victim.youth().toNanos() + later(betweenKills);
        nextCut = now;
        nextLetters = now + victim.youth().toNanos();
        struckAt = now;
    }

    /** Around the given time. */
    private long later(long nanos) {
        return nanos / 2 + (long) (nanos * 0.9 * random.nextDouble());
    }

    int serverKills() {
        return kills;
    }

    /** How many connections were cut. */
    int cuts() {
        return proxy.faultsFired() + closings;
    }

    /** How often dead letters were not taken for a while. */
    int letterOutages() {
        return letterOutages;
    }

    /** How often the clock of the server was set. */
    int jumps() {
        return jumps;
    }

    /**
     * Strikes when it is time, but not twice in a short time at workers that got nothing done between: they would never
     * come to their feet.
     *
     * @param heard how many answers the workers have given
     */
    void act(long now, long heard) throws Exception {
        if (isRestarting()
                || isAboutLetters(now)
                || (heard - heardBefore < WORTH_A_BLOW && now - struckAt < AT_THE_LATEST_NANOS)) {
            return;
        }
        if (kills < mostKills && now - nextKill >= 0) {
            kills++;
            victim.killHard();
            int outage = random.nextInt(LONGEST_OUTAGE_MILLIS);
            restart = restarts.submit(() -> {
                Thread.sleep(outage);
                victim.restart();
                return null;
            });
            nextKill = now + later(betweenKills);
            heardBefore = heard;
            struckAt = now;
        } else if (now - nextCut >= 0) {
            int percent = random.nextInt(100);
            cut(++strokes == CERTAIN_JUMP ? CLOCK_PERCENT - 1 : percent);
            heardBefore = heard;
            struckAt = now;
            nextCut = now + TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(LONGEST_BETWEEN_CUTS_MILLIS));
        }
    }

    /** Opens or closes the place of dead letters, if it is time for that. */
    private boolean isAboutLetters(long now) {
        if (!victim.hasLetters() || now - nextLetters < 0) {
            return false;
        }
        boolean welcome = withoutLetters;
        withoutLetters = !welcome;
        letterOutages += welcome ? 0 : 1;
        int millis = welcome
                ? random.nextInt(LONGEST_WITH_LETTERS_MILLIS)
                : LEAST_WITHOUT_LETTERS_MILLIS + random.nextInt(MORE_WITHOUT_LETTERS_MILLIS);
        nextLetters = now + TimeUnit.MILLISECONDS.toNanos(millis);
        restart = restarts.submit(() -> {
            victim.letters(welcome);
            return null;
        });
        return true;
    }

    private void cut(int percent) throws Exception {
        if (percent < ALL_PERCENT) {
            proxy.cut();
        } else if (percent < CLOSING_PERCENT && victim.closeConnections()) {
            closings++;
        } else if (percent < CLOCK_PERCENT
                && victim.setClock(
                        Duration.ofMillis(random.nextInt(2 * LARGEST_JUMP_MILLIS) - (long) LARGEST_JUMP_MILLIS))) {
            jumps++;
        } else {
            // A commit that was made, and its answer never heard.
            proxy.cutWhen(Direction.SERVER_TO_CLIENT, "COMMIT", Cut.BEFORE);
        }
    }

    /** Also tells when the server could not be started again. */
    boolean isRestarting() throws Exception {
        if (restart != null && restart.isDone()) {
            restart.get();
            restart = null;
        }
        return restart != null;
    }

    /** Leaves everything running. */
    void end() throws Exception {
        if (restart != null) {
            restart.get();
            restart = null;
        }
        if (withoutLetters) {
            victim.letters(true);
        }
        proxy.heal();
    }

    @Override
    public void close() {
        restarts.shutdownNow();
    }
}
