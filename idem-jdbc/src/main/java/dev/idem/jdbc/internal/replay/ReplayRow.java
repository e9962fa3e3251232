package dev.idem.jdbc.internal.replay;

import dev.idem.Policy;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.replay.ReplaySession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A session as its row has it.
 *
 * @param number the consumer's
 */
public record ReplayRow(ReplaySession session, int number) {
    static ReplayRow of(ResultSet row) throws SQLException {
        String policy = row.getString(9);
        long total = Micros.read(row, 11, Micros.NEVER);
        long lease = Micros.read(row, 20, Micros.NEVER);
        ReplaySession session = new ReplaySession(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                row.getLong(6),
                row.getInt(7) != 0,
                ReplaySession.State.valueOf(row.getString(8)),
                Optional.ofNullable(policy).map(Policy.Replay::valueOf),
                Optional.ofNullable(row.getString(10)),
                total == Micros.NEVER ? OptionalLong.empty() : OptionalLong.of(total),
                new ReplaySession.Counts(
                        row.getLong(12),
                        row.getLong(13),
                        row.getLong(14),
                        row.getLong(15),
                        row.getLong(16),
                        row.getLong(17),
                        row.getLong(18)),
                Optional.ofNullable(row.getString(19)),
                lease == Micros.NEVER ? Optional.empty() : Optional.of(Micros.instant(lease)),
                row.getLong(21),
                Micros.instant(row.getLong(22)),
                Micros.instant(row.getLong(23)),
                Optional.ofNullable(row.getString(24)),
                EffectText.read(row.getString(26)));
        return new ReplayRow(session, row.getInt(25));
    }
}
