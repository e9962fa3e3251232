package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Takes out of the tables what a message said, in the caller's transaction, and leaves that it was decided: its marker with
 * key and fingerprint, its state, who did what to it and when. One that still waits is given up first, as a person's skip
 * does it; one that a worker has is left alone. Copies under the keys of replay sessions go with it, as far as the queue or
 * the archive has them.
 */
final class InboxErasure {
    /** The word in the queue for a message of which nothing is left to run. */
    static final String REASON = "ERASED";

    private final ErasureKeys keys;
    private final ErasureRows contents;
    private final InboxChanges changes;
    private final AuditRows audit;

    InboxErasure(Tables tables) {
        keys = new ErasureKeys(tables);
        contents = new ErasureRows(tables);
        changes = new InboxChanges(tables);
        audit = new AuditRows(tables);
    }

    /** Who wants it, and whether only to know what would happen. */
    record Wish(String actor, String reason, boolean dryRun) {}

    /** What it has come to; the ordering keys are to be released after the commit, as {@link InboxChanges.Made} says. */
    record Made(InboxAnswer answer, Map<Integer, Set<UUID>> orders) {}

    /** Thrown so that nothing of it stays. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient InboxAnswer answer;

        private Refused(InboxAnswer answer) {
            super(answer.detail(), null, false, false);
            this.answer = answer;
        }

        InboxAnswer answer() {
            return answer;
        }
    }

    Made byNumber(Connection connection, long id, Wish wish) throws SQLException {
        Optional<ErasureKeys.Found> found = keys.of(connection, id);
        return found.isPresent()
                ? erase(connection, id, found.get(), wish)
                : new Made(InboxAnswer.missing(id), Map.of());
    }

    Made byName(Connection connection, String consumer, String messageId, Wish wish) throws SQLException {
        Optional<ErasureKeys.Found> found = keys.of(connection, consumer, messageId);
        return found.isPresent()
                ? erase(connection, found.get().numbers().stream().findFirst().orElse(0L), found.get(), wish)
                : new Made(InboxAnswer.missing(0), Map.of());
    }

    private Made erase(Connection connection, long id, ErasureKeys.Found found, Wish wish) throws SQLException {
        InboxChanges.Wish skip = new InboxChanges.Wish(InboxAction.SKIP, wish.actor, wish.reason, false);
        List<Long> waiting = keys.waiting(connection, found);
        InboxChanges.Made skipped = wish.dryRun
                ? new InboxChanges.Made(changes.look(connection, skip, waiting), Map.of())
                : changes.make(connection, skip, waiting);
        Optional<InboxAnswer> refused = skipped.answers().stream()
                .filter(answer ->
                        answer.result() == InboxAnswer.Result.BUSY || answer.result() == InboxAnswer.Result.REFUSED)
                .findFirst();
        if (refused.isPresent()) {
            throw new Refused(refused.get());
        }
        boolean changed = skipped.answers().stream().anyMatch(a -> a.result() == InboxAnswer.Result.CHANGED);
        Optional<QueueState> from = skipped.answers().stream().findFirst().flatMap(InboxAnswer::from);
        Optional<QueueState> to = from.map(state -> QueueState.FAILED_TERMINAL);
        String what = contents.erase(connection, found, wish.dryRun);
        if (what.isEmpty() && !changed) {
            return new Made(
                    new InboxAnswer(id, InboxAnswer.Result.UNCHANGED, from, to, "has nothing left to erase"), Map.of());
        }
        if (!wish.dryRun) {
            for (ErasureKeys.Key key : found.keys()) {
                write(connection, found.consumer(), key.value(), wish, id, what);
            }
            if (found.keys().isEmpty()) {
                write(connection, found.consumer(), null, wish, id, what);
            }
        }
        String rest = found.keys().isEmpty() ? "; for its marker and results say its consumer and id as well" : "";
        return new Made(
                new InboxAnswer(id, InboxAnswer.Result.CHANGED, from, to, "erased " + what + rest), skipped.orders());
    }

    private void write(Connection connection, int consumer, @Nullable UUID key, Wish wish, long id, String what)
            throws SQLException {
        String detail = "message " + id + ": erased " + what;
        audit.write(connection, new AuditRows.Entry(consumer, key, "ERASE", wish.actor, wish.reason, detail));
    }
}
