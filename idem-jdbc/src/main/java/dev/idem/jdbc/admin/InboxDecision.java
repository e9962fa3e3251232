package dev.idem.jdbc.admin;

import dev.idem.queue.QueueState;
import dev.idem.spi.QueueMove;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a person's wish means for a message in the state it is in: a move, or the answer why there is none. A message that
 * a worker has now is never moved, for its handler may be about to commit: the person is told who has it.
 */
record InboxDecision(@Nullable QueueMove move, InboxAnswer answer) {

    /** Whether an earlier message of the same ordering key is in the queue; asked only where it matters. */
    @FunctionalInterface
    interface Earlier {
        boolean exists() throws SQLException;
    }

    static InboxDecision on(InboxRow row, InboxAction action, boolean force, Earlier earlier) throws SQLException {
        QueueState state = row.message().state();
        if (row.leased()) {
            String worker = row.message().worker().orElse("unknown");
            return not(row, InboxAnswer.Result.BUSY, "is being handled now by worker " + worker);
        }
        Optional<InboxDecision> none = already(row, action).or(() -> refused(row, action, force));
        if (none.isPresent()) {
            return none.get();
        }
        QueueMove move = switch (action) {
            case PARK -> QueueMove.PARK;
            case SKIP -> QueueMove.SKIP;
            case RETRY -> row.order() != null && earlier.exists() ? QueueMove.RETRY_BEHIND : QueueMove.RETRY;
        };
        if (!move.from().contains(state)) {
            throw new IllegalStateException(action + " was decided for " + state + ", from where " + move + " cannot");
        }
        return new InboxDecision(move, InboxAnswer.changed(row.message().id(), state, move.to()));
    }

    private static Optional<InboxDecision> already(InboxRow row, InboxAction action) {
        @Nullable
        String why = switch (action) {
            case PARK -> row.message().state() == QueueState.PARKED ? "is parked already" : null;
            case SKIP -> row.message().state() == QueueState.FAILED_TERMINAL ? "is skipped already" : null;
            case RETRY ->
                switch (row.message().state()) {
                    case RECEIVED -> "waits for a worker already";
                    case HELD -> "waits already, behind another of its ordering key";
                    case IN_PROGRESS -> "has a lease that ran out: the next worker takes it";
                    default -> null;
                };
        };
        return Optional.ofNullable(why).map(text -> not(row, InboxAnswer.Result.UNCHANGED, text));
    }

    private static Optional<InboxDecision> refused(InboxRow row, InboxAction action, boolean force) {
        QueueState state = row.message().state();
        @Nullable String why = null;
        if (action == InboxAction.RETRY && row.isErased()) {
            why = "was erased: nothing is left that could be handled";
        } else if (action == InboxAction.RETRY
                && state == QueueState.FAILED_TERMINAL
                && row.order() != null
                && !force) {
            why = "was skipped, and later messages of its ordering key have gone ahead: force it if that does no harm";
        } else if (action == InboxAction.RETRY && state == QueueState.FAILED_TERMINAL && row.stream() != null) {
            why = "was skipped, and its stream has gone on: this version cannot be applied any more";
        } else if (action == InboxAction.PARK && state == QueueState.FAILED_TERMINAL) {
            why = "was skipped: there is nothing to set aside";
        } else if (action == InboxAction.SKIP && state == QueueState.IN_PROGRESS) {
            why = "has a lease that ran out, but its worker may still run: park it, then skip it";
        }
        return Optional.ofNullable(why).map(text -> not(row, InboxAnswer.Result.REFUSED, text));
    }

    static InboxDecision not(InboxRow row, InboxAnswer.Result result, String why) {
        return new InboxDecision(
                null, InboxAnswer.not(row.message().id(), result, row.message().state(), why));
    }
}
