package dev.idem.test.fault;

import org.jspecify.annotations.Nullable;

/** Lets a number of bytes pass, counted over all connections. */
final class ByteTrap implements Trap {
    private long left;

    ByteTrap(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("Cannot cut after " + bytes + " bytes");
        }
        left = bytes;
    }

    @Override
    public @Nullable Verdict spring(Link link, byte[] chunk, int length) {
        if (length < left) {
            left -= length;
            return null;
        }
        return new Verdict((int) left, Verdict.Action.CUT);
    }
}
