package dev.idem.jdbc.admin;

import dev.idem.queue.QueueState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What became of a person's wish for one message. Immutable.
 *
 * @param from the state it was in; empty if it is not in the queue
 * @param to the state it is in now, or would be after a dry run
 * @param detail what happened, or why nothing did, for people
 */
public record InboxAnswer(long id, Result result, Optional<QueueState> from, Optional<QueueState> to, String detail) {
    /** Whether something happened. */
    public enum Result {
        /** It was done, or would be. */
        CHANGED,
        /** It was so already; nothing happened. */
        UNCHANGED,
        /** A worker has it now; nothing happened. Ask again when it is done. */
        BUSY,
        /** It cannot be done in this state; nothing happened. */
        REFUSED,
        /** There is no such message in the queue. */
        MISSING
    }

    static InboxAnswer changed(long id, QueueState from, QueueState to) {
        return new InboxAnswer(id, Result.CHANGED, Optional.of(from), Optional.of(to), from + " → " + to);
    }

    static InboxAnswer not(long id, Result result, QueueState state, String why) {
        return new InboxAnswer(id, result, Optional.of(state), Optional.of(state), why);
    }

    static InboxAnswer missing(long id) {
        return new InboxAnswer(
                id,
                Result.MISSING,
                Optional.empty(),
                Optional.empty(),
                "is not in the queue: it is done, or was never there");
    }

    /**
     * What became of a wish for all messages of a filter.
     *
     * @param others the first of those that were not changed, with the reasons
     */
    public record Sum(long changed, long unchanged, long busy, long refused, List<InboxAnswer> others) {
        private static final int SHOWN = 20;

        static final Sum NONE = new Sum(0, 0, 0, 0, List.of());

        /** All that the filter has found. */
        public long matched() {
            return changed + unchanged + busy + refused;
        }

        Sum plus(List<InboxAnswer> answers) {
            List<InboxAnswer> shown = new ArrayList<>(others);
            answers.stream()
                    .filter(a -> a.result() != Result.CHANGED && a.result() != Result.MISSING)
                    .limit(SHOWN - shown.size())
                    .forEach(shown::add);
            return new Sum(
                    changed + count(answers, Result.CHANGED),
                    unchanged + count(answers, Result.UNCHANGED),
                    busy + count(answers, Result.BUSY),
                    refused + count(answers, Result.REFUSED),
                    List.copyOf(shown));
        }

        private static long count(List<InboxAnswer> answers, Result result) {
            return answers.stream().filter(answer -> answer.result() == result).count();
        }
    }
}
