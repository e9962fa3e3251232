package dev.idem.servers;

import java.util.Random;

/**
 * What {@code ./verify --long} does beyond {@code ./verify}: every case where that takes a sample, and campaigns of an hour.
 * {@code -Didem.long=true} asks for it in a single module or class.
 */
public final class LongLane {
    private static final long SEED = Long.getLong("idem.sample.seed", new Random().nextInt(1_000_000));

    private LongLane() {}

    public static boolean isOn() {
        return Boolean.getBoolean("idem.long");
    }

    /**
     * The distance between the cases that a sweep runs: one, which means all of them, in the long lane.
     *
     * @param distance in other lanes
     */
    public static int stride(int distance) {
        return isOn() ? 1 : distance;
    }

    /**
     * The first case of a sweep over 1, 2, … in such steps. It differs from build to build, so that all cases have their
     * turn; {@code -Didem.sample.seed=…} repeats what was printed.
     */
    public static int first(int stride) {
        int first = 1 + (int) Math.floorMod(SEED, (long) stride);
        if (stride > 1) {
            System.out.printf("sample: from case %d on each %d. case, -Didem.sample.seed=%d%n", first, stride, SEED);
        }
        return first;
    }

    /** The value of a system property, or else one of these: the second in the long lane. */
    public static String setting(String property, String usual, String inLongLane) {
        return System.getProperty(property, isOn() ? inLongLane : usual);
    }
}
