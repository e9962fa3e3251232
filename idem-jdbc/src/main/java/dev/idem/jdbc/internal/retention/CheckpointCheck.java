package dev.idem.jdbc.internal.retention;

import dev.idem.StoreReplacedException;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Judges by the tables what they, or others, once said of themselves. Stateless. */
final class CheckpointCheck {
    private final Tables tables;
    private final CheckpointRows rows;

    CheckpointCheck(Tables tables, CheckpointRows rows) {
        this.tables = tables;
        this.rows = rows;
    }

    /** Throws for the earliest of them that the tables do not know. */
    void refuse(Connection connection, CheckpointRows.Self self, Set<StoreCheckpoint> said) throws SQLException {
        @Nullable StoreCheckpoint first = null;
        for (StoreCheckpoint checkpoint : said) {
            boolean earlier = first == null || checkpoint.at() < first.at();
            first = earlier && !isKnown(connection, self, checkpoint) ? checkpoint : first;
        }
        if (first != null) {
            throw problem(connection, self, first);
        }
    }

    private boolean isKnown(Connection connection, CheckpointRows.Self self, StoreCheckpoint said) throws SQLException {
        if (said.at() <= self.acceptedAt()) {
            return true;
        }
        if (!said.inbox().equals(self.inbox())) {
            return false;
        }
        OptionalLong tick = rows.tick(connection, said.process());
        return tick.isPresent() ? tick.getAsLong() >= said.tick() : said.at() < self.now() - CheckpointRows.KEEP;
    }

    /** What is wrong, and what a person can do. */
    StoreReplacedException problem(Connection connection, CheckpointRows.Self self, StoreCheckpoint said)
            throws SQLException {
        boolean same = said.inbox().equals(self.inbox());
        Optional<Long> last = same ? rows.before(connection, said.at()) : Optional.empty();
        String what = same
                ? "The tables " + tables + " are older than the offsets: they know nothing of what was done at "
                        + Micros.instant(said.at()) + ", so they were restored from an earlier state"
                : "The tables " + tables + " are others than those the offsets were committed with at "
                        + Micros.instant(said.at()) + ": they were created anew, or this is another database";
        String when = last.map(micros -> "at or before "
                        + Micros.instant(micros).truncatedTo(ChronoUnit.SECONDS) + ", the last sign of life in these"
                        + " tables")
                .orElse("where the messages begin whose effects are missing");
        return new StoreReplacedException(what
                + ". What was done since is missing, and the broker does not bring it again"
                + " by itself. Reset the offsets of the group to " + when + ", and earlier by as much as consumers"
                + " may have lagged: what is there already is recognised. Or, if nothing is missed, say so with 'idem"
                + " schema accept-loss'. In development, where the tables were made anew on purpose: give the listener"
                + " another group.id, or delete the group (kafka-consumer-groups.sh --delete --group …), or say"
                + " trustOffsets(true) on the listener's builder. See docs/operations.md, 'After a restore'");
    }
}
