package dev.idem.broker;

import dev.idem.spi.Audit;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Sends dead letters again: filtered, at a bounded rate, told in advance by a dry run, and written down. May be interrupted
 * anywhere and run again. Immutable and thread-safe.
 *
 * <pre>{@code
 * try (DeadLetters letters = KafkaDeadLetters.open(config, "orders.dead")) {
 *     LetterReplay.of(LetterFilter.all().consumer("billing")).as("anna", "the provider is back", audit).run(letters, p -> {});
 * }
 * }</pre>
 */
public final class LetterReplay {
    private static final long DEFAULT_RATE = 100;

    private final LetterFilter filter;
    private final long perSecond;
    private final long limit;
    private final boolean force;
    private final BooleanSupplier stop;

    private LetterReplay(LetterFilter filter, long perSecond, long limit, boolean force, BooleanSupplier stop) {
        this.filter = Objects.requireNonNull(filter, "filter");
        this.perSecond = perSecond;
        this.limit = limit;
        this.force = force;
        this.stop = stop;
    }

    public static LetterReplay of(LetterFilter filter) {
        return new LetterReplay(filter, DEFAULT_RATE, Long.MAX_VALUE, false, () -> false);
    }

    /** How many letters are sent each second at most; default 100. */
    public LetterReplay perSecond(long letters) {
        if (letters < 1) {
            throw new IllegalArgumentException("perSecond is " + letters + ", but must be at least 1");
        }
        return new LetterReplay(filter, letters, limit, force, stop);
    }

    /** How many letters are sent in all; default as many as there are. */
    public LetterReplay limit(long letters) {
        if (letters < 1) {
            throw new IllegalArgumentException("limit is " + letters + ", but must be at least 1");
        }
        return new LetterReplay(filter, perSecond, letters, force, stop);
    }

    /** Also those of consumers whose policy forbids it. The reason given is their justification in the audit. */
    public LetterReplay force() {
        return new LetterReplay(filter, perSecond, limit, true, stop);
    }

    /** Asked before each letter: true ends the run, with what was done in the report. */
    public LetterReplay until(BooleanSupplier stopped) {
        return new LetterReplay(filter, perSecond, limit, force, stopped);
    }

    /**
     * How far it is, or what it did.
     *
     * @param seen letters that were looked at
     * @param sent letters that were sent again, or would be
     * @param forbidden letters that were left because their consumer's policy forbids it
     * @param perConsumer letters that were sent again, or would be, by consumer
     */
    public record Report(long seen, long sent, long forbidden, Map<String, Long> perConsumer) {
        public Report {
            perConsumer = Map.copyOf(perConsumer);
        }
    }

    /** Counts what a run would send, and sends nothing. */
    public Report dryRun(DeadLetters letters) {
        return new Run(letters, letter -> {}, progress -> {}).go();
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

        /** Runs on the caller's thread. Written down before the first letter of a consumer is sent, and at the end. */
        public Report run(DeadLetters letters, Consumer<Report> progress) {
            Set<String> begun = new HashSet<>();
            Rate rate = new Rate(perSecond);
            Report report = new Run(
                            letters,
                            letter -> {
                                String consumer = letter.about().consumer();
                                if (begun.add(consumer)) {
                                    audit.record(
                                            consumer,
                                            "REPLAY",
                                            actor,
                                            reason,
                                            "begins at " + letter.place() + (force ? ", forced" : ""));
                                }
                                rate.await();
                                letters.sendAgain(letter);
                            },
                            progress)
                    .go();
            report.perConsumer()
                    .forEach((consumer, sent) ->
                            audit.record(consumer, "REPLAYED", actor, reason, sent + " dead letters sent again"));
            return report;
        }
    }

    /** One walk through the letters. */
    private final class Run {
        private final DeadLetters letters;
        private final Consumer<Letter> sender;
        private final Consumer<Report> progress;
        private final Map<String, Long> perConsumer = new TreeMap<>();
        private long seen;
        private long sent;
        private long forbidden;

        Run(DeadLetters letters, Consumer<Letter> sender, Consumer<Report> progress) {
            this.letters = letters;
            this.sender = sender;
            this.progress = progress;
        }

        Report go() {
            for (var next = letters.next(); next.isPresent() && sent < limit; next = letters.next()) {
                if (stop.getAsBoolean()) {
                    break;
                }
                one(next.get());
                progress.accept(report());
            }
            return report();
        }

        private void one(Letter letter) {
            seen++;
            if (!filter.test(letter)) {
                return;
            }
            if (letter.about().replayForbidden() && !force) {
                forbidden++;
                return;
            }
            sender.accept(letter);
            sent++;
            perConsumer.merge(letter.about().consumer(), 1L, Long::sum);
        }

        private Report report() {
            return new Report(seen, sent, forbidden, perConsumer);
        }
    }
}
