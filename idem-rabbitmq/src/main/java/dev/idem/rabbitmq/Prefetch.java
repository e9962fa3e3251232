package dev.idem.rabbitmq;

/**
 * How many messages the broker may send ahead. RabbitMQ counts messages and does not weigh them, so the number follows the
 * size of the last ones: what is here stays within about half of the byte budget. Until sizes are known, messages are taken
 * for large. Thread-safe.
 */
final class Prefetch {
    private static final double ASSUMED = 1024 * 1024;
    private static final int KNOWN = 8;
    private static final int WINDOW = 64;

    private final int most;
    private final long budget;
    private double mean = ASSUMED;
    private int seen;
    private boolean single;

    Prefetch(int most, long budget) {
        this.most = most;
        this.budget = budget;
    }

    /** A message of so many bytes has come. */
    synchronized void arrived(int bytes) {
        seen = Math.min(WINDOW, seen + 1);
        mean += (bytes - mean) / seen;
    }

    /** One by one, because one of them cannot be read: else those before it could not be done either. */
    synchronized void single(boolean wanted) {
        single = wanted;
    }

    /**
     * What it should be. Consuming anew is not free, so small changes are left.
     *
     * @param now what it is; 0 if nothing is consumed
     */
    synchronized int wanted(int now) {
        if (single) {
            return 1;
        }
        double bytes = seen < KNOWN ? budget / ASSUMED : budget / (2 * Math.max(1, mean));
        int fits = (int) Math.max(1, Math.min(most, bytes));
        boolean similar = fits < 2 * now && 2 * fits > now;
        return similar && fits != most ? now : fits;
    }
}
