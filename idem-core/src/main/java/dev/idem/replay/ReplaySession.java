package dev.idem.replay;

import dev.idem.Policy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * A named, audited redelivery of messages to one consumer, as it stands. It is asked for by a person, and done by a {@link
 * Replayer} in a service that has the consumer. Immutable.
 *
 * @param source where the messages come from, as {@link ReplaySpec} writes it
 * @param actor who asked for it
 * @param perSecond how many messages each second at most
 * @param dryRun whether it only counts
 * @param policy what the consumer's policy says, once an executor has looked
 * @param cursor where the source goes on; empty at its beginning
 * @param total how many messages there are in all, if the source can tell
 * @param worker who does it, or did last
 * @param error what went wrong the last time
 * @param effects of a dry run, else empty: what would become of each effect
 */
public record ReplaySession(
        String name,
        String consumer,
        String source,
        String actor,
        String reason,
        long perSecond,
        boolean dryRun,
        State state,
        Optional<Policy.Replay> policy,
        Optional<String> cursor,
        OptionalLong total,
        Counts counts,
        Optional<String> worker,
        Optional<Instant> leaseUntil,
        long fence,
        Instant createdAt,
        Instant updatedAt,
        Optional<String> error,
        List<EffectForecast> effects) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,99}");

    public ReplaySession {
        effects = List.copyOf(effects);
    }

    /** How a session stands. */
    public enum State {
        /** Waits for an executor. */
        REQUESTED,
        RUNNING,
        PAUSED,
        /** Given up by a person; messages of it that still come are suppressed. */
        ABORTED,
        DONE,
        /** It could not go on; a person may resume it. */
        FAILED;

        /** Whether nothing will happen any more. */
        public boolean isFinal() {
            return this == ABORTED || this == DONE;
        }
    }

    /**
     * What became of its messages so far; of a dry run, what would.
     *
     * @param read taken from the source and decided
     * @param processed handled, or stored for the workers of a queue
     * @param duplicates done already: by the session, or, where only the undone is wanted, by anybody. In a dry run: done
     *     before, whatever the policy makes of it
     * @param suppressed not run because of the policy, or an abort, or because a person had them erased. In a dry run also
     *     those whose handlers run without their effects
     * @param undecidable from before the horizon
     * @param rejected turned away: no key, no handler, a conflict
     * @param failed given up after their attempts
     */
    public record Counts(
            long read, long processed, long duplicates, long suppressed, long undecidable, long rejected, long failed) {
        public static Counts none() {
            return new Counts(0, 0, 0, 0, 0, 0, 0);
        }

        public Counts plus(Counts more) {
            return new Counts(
                    read + more.read,
                    processed + more.processed,
                    duplicates + more.duplicates,
                    suppressed + more.suppressed,
                    undecidable + more.undecidable,
                    rejected + more.rejected,
                    failed + more.failed);
        }
    }

    /** Whether a session may have this name: 1 to 100 letters, digits or . _ : - that begin with a letter or digit. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }
}
