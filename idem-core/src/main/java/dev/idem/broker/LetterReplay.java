package dev.idem.broker;

import dev.idem.spi.Audit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends dead letters again: filtered, at a bounded rate, told in advance by a dry run, and written down. May be interrupted
 * anywhere and run again. Immutable and thread-safe.
 *
 * <pre>{@code
 * try (DeadLetters letters = KafkaDeadLetters.open(config, "orders.dead")) {
 *     LetterReplay.of(LetterFilter.all().consumer("billing"))
 *             .to(Set.of("orders"))
 *             .as("anna", "the provider is back", audit)
 *             .run(letters, progress -> {});
 * }
 * }</pre>
 */
public final class LetterReplay {
    private static final long DEFAULT_RATE = 100;

    private final LetterFilter filter;
    private final long perSecond;
    private final long limit;
    private final boolean force;
    private final @Nullable Set<String> origins;
    private final BooleanSupplier stop;

    private LetterReplay(
            LetterFilter filter,
            long perSecond,
            long limit,
            boolean force,
            @Nullable Set<String> origins,
            BooleanSupplier stop) {
        this.filter = Objects.requireNonNull(filter, "filter");
        this.perSecond = perSecond;
        this.limit = limit;
        this.force = force;
        this.origins = origins;
        this.stop = stop;
    }

    public static LetterReplay of(LetterFilter filter) {
        return new LetterReplay(filter, DEFAULT_RATE, Long.MAX_VALUE, false, null, () -> false);
    }

    /**
     * The topics and queues that letters may be sent to; default all. A letter says itself where it came from, and a person who can
     * write to the dead letters can say anything there, so name them. Letters from elsewhere are left and counted.
     */
    public LetterReplay to(Set<String> allowed) {
        return new LetterReplay(filter, perSecond, limit, force, Set.copyOf(allowed), stop);
    }

    /** How many letters are sent each second at most; default 100. */
    public LetterReplay perSecond(long letters) {
        if (letters < 1) {
            throw new IllegalArgumentException("perSecond is " + letters + ", but must be at least 1");
        }
        return new LetterReplay(filter, letters, limit, force, origins, stop);
    }

    /** How many letters are sent in all; default as many as there are. */
    public LetterReplay limit(long letters) {
        if (letters < 1) {
            throw new IllegalArgumentException("limit is " + letters + ", but must be at least 1");
        }
        return new LetterReplay(filter, perSecond, letters, force, origins, stop);
    }

    /** Also those of consumers whose policy forbids it. The reason given is their justification in the audit. */
    public LetterReplay force() {
        return new LetterReplay(filter, perSecond, limit, true, origins, stop);
    }

    /** Asked before each letter: true ends the run, with what was done in the report. */
    public LetterReplay until(BooleanSupplier stopped) {
        return new LetterReplay(filter, perSecond, limit, force, origins, stopped);
    }

    /**
     * How far it is, or what it did. Names come from the letters, whose writers are not trusted: at most 100 are
     * listed, the rest is counted under {@value #OTHERS}. Immutable and thread-safe.
     *
     * @param seen letters that were looked at
     * @param sent letters that were sent again, or would be
     * @param forbidden letters that were left because their consumer's policy forbids it
     * @param failed letters that could not be sent; they are where they were
     * @param perConsumer letters that were sent again, or would be, by consumer
     * @param perOrigin the same, by the topic or queue that they are sent to
     * @param notAllowed letters that were left because their origin is not allowed, by origin
     * @param failures the first 100 of those that could not be sent, and why
     */
    public record Report(
            long seen,
            long sent,
            long forbidden,
            long failed,
            Map<String, Long> perConsumer,
            Map<String, Long> perOrigin,
            Map<String, Long> notAllowed,
            List<Failure> failures) {
        /** Stands for all names that are not listed. */
        public static final String OTHERS = "(others)";

        public Report {
            perConsumer = Map.copyOf(perConsumer);
            perOrigin = Map.copyOf(perOrigin);
            notAllowed = Map.copyOf(notAllowed);
            failures = List.copyOf(failures);
        }

        /**
         * A letter that could not be sent.
         *
         * @param why the broker's own words, which may quote the letter; escape them before they reach a terminal
         */
        public record Failure(String place, String origin, String why) {}
    }

    /** Counts what a run would send, and sends nothing. */
    public Report dryRun(DeadLetters letters) {
        return new LetterRun(letters, this, letter -> {}).go(progress -> {});
    }

    /** What is to be done with a letter. */
    Choice choice(Letter letter) {
        if (!filter.test(letter)) {
            return Choice.NOT_MEANT;
        }
        if (origins != null && !origins.contains(letter.origin())) {
            return Choice.NOT_ALLOWED;
        }
        return letter.about().replayForbidden() && !force ? Choice.FORBIDDEN : Choice.SEND;
    }

    boolean isOver(long sent) {
        return sent >= limit || stop.getAsBoolean();
    }

    /** What is to be done with a letter. */
    enum Choice {
        SEND,
        NOT_MEANT,
        NOT_ALLOWED,
        FORBIDDEN
    }

    /** Who does it and why; both go to the audit. */
    public Ready as(String actor, String reason, Audit audit) {
        if (actor.isBlank() || reason.isBlank()) {
            throw new IllegalArgumentException("a replay needs a name and a reason, for the audit");
        }
        return new Ready(actor, reason, audit);
    }

    /** Ready to run. */
    public final class Ready {
        private final String actor;
        private final String reason;
        private final Audit audit;

        private Ready(String actor, String reason, Audit audit) {
            this.actor = actor;
            this.reason = reason;
            this.audit = audit;
        }

        /**
         * Runs on the caller's thread. Written down before the first letter of a consumer is sent, and at the end. A letter that
         * cannot be sent, or of a consumer that the audit does not know, stays where it is, is counted, and does not keep back
         * those behind it.
         *
         * @throws dev.idem.IdemException if the letters cannot be read any further; what was sent until then is written down
         */
        public Report run(DeadLetters letters, Consumer<Report> progress) {
            Map<String, Long> written = new TreeMap<>();
            Rate rate = new Rate(perSecond);
            LetterRun run = new LetterRun(letters, LetterReplay.this, letter -> {
                rate.await();
                begin(letter, written);
                letters.sendAgain(letter);
                written.merge(letter.about().consumer(), 1L, Long::sum);
            });
            try {
                return run.go(progress);
            } finally {
                written.forEach((consumer, sent) ->
                        audit.record(consumer, "REPLAYED", actor, reason, sent + " dead letters sent again"));
            }
        }

        /** Nothing is sent that was not written down. A consumer that the audit does not know may be a forged one. */
        private void begin(Letter letter, Map<String, Long> written) {
            String consumer = letter.about().consumer();
            if (!written.containsKey(consumer)) {
                String detail = "begins at " + letter.place() + (force ? ", forced" : "");
                audit.record(consumer, "REPLAY", actor, reason, detail);
                written.put(consumer, 0L);
            }
        }
    }
}
