package dev.idem.broker;

import dev.idem.broker.LetterReplay.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** One walk through the letters. Used by one thread. */
final class LetterRun {
    /** Enough for a person, and no memory for somebody who writes a million names. */
    private static final int LISTED = 100;

    private final DeadLetters letters;
    private final LetterReplay replay;
    /** Throws if the letter cannot be sent; it is counted then, and the next one is looked at. */
    private final Consumer<Letter> sender;

    private final Map<String, Long> perConsumer = new TreeMap<>();
    private final Map<String, Long> perOrigin = new TreeMap<>();
    private final Map<String, Long> notAllowed = new TreeMap<>();
    private final List<Report.Failure> failures = new ArrayList<>();
    private long seen;
    private long sent;
    private long forbidden;
    private long failed;

    LetterRun(DeadLetters letters, LetterReplay replay, Consumer<Letter> sender) {
        this.letters = letters;
        this.replay = replay;
        this.sender = sender;
    }

    Report go(Consumer<Report> progress) {
        while (!replay.isOver(sent)) {
            Optional<Letter> next = letters.next();
            if (next.isEmpty()) {
                break;
            }
            seen++;
            Letter letter = next.get();
            switch (replay.choice(letter)) {
                case SEND -> send(letter);
                case NOT_ALLOWED -> count(notAllowed, letter.origin());
                case FORBIDDEN -> forbidden++;
                case NOT_MEANT -> {}
            }
            progress.accept(report());
        }
        return report();
    }

    private void send(Letter letter) {
        try {
            sender.accept(letter);
        } catch (RuntimeException failure) {
            if (Thread.currentThread().isInterrupted()) {
                throw failure;
            }
            failed++;
            if (failures.size() < LISTED) {
                failures.add(new Report.Failure(letter.place(), letter.origin(), why(failure)));
            }
            return;
        }
        sent++;
        count(perConsumer, letter.about().consumer());
        count(perOrigin, letter.origin());
    }

    private static String why(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root == failure ? text(failure) : text(failure) + ": " + text(root);
    }

    private static String text(Throwable failure) {
        String message = failure.getMessage();
        return message == null || message.isBlank() ? failure.getClass().getName() : message;
    }

    private static void count(Map<String, Long> counts, String name) {
        String listed = counts.size() < LISTED || counts.containsKey(name) ? name : Report.OTHERS;
        counts.merge(listed, 1L, Long::sum);
    }

    Report report() {
        return new Report(seen, sent, forbidden, failed, perConsumer, perOrigin, notAllowed, failures);
    }
}
