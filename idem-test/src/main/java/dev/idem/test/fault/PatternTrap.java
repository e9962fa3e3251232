package dev.idem.test.fault;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks for a pattern on each connection by itself (Knuth, Morris and Pratt), since it may come in pieces. */
final class PatternTrap implements Trap {
    private final byte[] pattern;
    private final int[] fallback;
    private final Cut cut;
    private final Map<Link, Integer> matched = new HashMap<>();

    PatternTrap(byte[] pattern, Cut cut) {
        if (pattern.length == 0) {
            throw new IllegalArgumentException("The pattern to cut at is empty");
        }
        this.pattern = pattern.clone();
        this.fallback = new int[pattern.length];
        this.cut = cut;
        for (int i = 1, length = 0; i < pattern.length; i++) {
            length = step(length, pattern[i]);
            fallback[i] = length;
        }
    }

    @Override
    public @Nullable Verdict spring(Link link, byte[] chunk, int length) {
        int state = matched.getOrDefault(link, 0);
        for (int i = 0; i < length; i++) {
            state = step(state, chunk[i]);
            if (state == pattern.length) {
                return switch (cut) {
                    case BEFORE -> new Verdict(Math.max(0, i + 1 - pattern.length), Verdict.Action.CUT);
                    case AFTER -> new Verdict(length, Verdict.Action.CUT);
                    case AFTER_REPLY -> new Verdict(length, Verdict.Action.DROP_REPLY);
                };
            }
        }
        matched.put(link, state);
        return null;
    }

    /** How much of the pattern is matched after one more byte. */
    private int step(int state, byte next) {
        int length = state;
        while (length > 0 && pattern[length] != next) {
            length = fallback[length - 1];
        }
        return pattern[length] == next ? length + 1 : length;
    }
}
