package dev.idem.jdbc;

import dev.idem.QueueState;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a person has found out about an effect that nobody knew of. Only of parked messages, which no worker has. */
final class EffectVerdict {
    private final InboxRows rows;
    private final StepTable table;
    private final NamedSql made;
    private final NamedSql notMade;
    private final AuditRows audit;

    EffectVerdict(Tables tables, InboxRows rows) {
        this.rows = rows;
        table = new StepTable(tables);
        String now = QueueSql.of(tables.dialect().database()).now();
        String unknown = " WHERE consumer = :consumer AND effect_key = :effect AND name = :name AND kind = "
                + StepRecord.Kind.EFFECT.code() + " AND state <> " + StepRecord.State.DONE.code();
        made = new NamedSql(tables.fill("UPDATE ${step} SET stored_at = " + now + ", codec = :codec, result = :result,"
                + " state = " + StepRecord.State.DONE.code() + unknown));
        notMade = new NamedSql(tables.fill("DELETE FROM ${step}" + unknown));
        audit = new AuditRows(tables);
    }

    /**
     * Who says so, and why.
     *
     * @param made whether the effect was made
     */
    record Saying(String effect, boolean made, @Nullable StoredResult result, String actor, String reason) {}

    /** Whether there is something to say it about. */
    boolean look(Connection connection, long id, String effect) throws SQLException {
        for (InboxRow row : rows.read(connection, List.of(id))) {
            boolean unknown = table.read(connection, row.number(), row.key()).stream()
                    .anyMatch(step -> step.name().equals(effect)
                            && step.kind() == StepRecord.Kind.EFFECT
                            && step.state() != StepRecord.State.DONE);
            return unknown && row.message().state() == QueueState.PARKED;
        }
        return false;
    }

    /** What the provider was given: the same for a replay session, which must hear of it as well. */
    private @Nullable String effectKey(Connection connection, InboxRow row, String effect) throws SQLException {
        for (StepRecord step : table.read(connection, row.number(), row.key())) {
            if (step.name().equals(effect) && step.kind() == StepRecord.Kind.EFFECT) {
                return step.effectKey();
            }
        }
        return null;
    }

    /** False when the message is not parked, or has no unknown effect of that name. */
    boolean say(Connection connection, long id, Saying saying) throws SQLException {
        for (InboxRow row : rows.lock(connection, List.of(id))) {
            if (row.message().state() != QueueState.PARKED) {
                return false;
            }
            StoredResult result = saying.result();
            String key = effectKey(connection, row, saying.effect());
            if (key == null) {
                return false;
            }
            Map<String, NamedSql.Parameter> values = new HashMap<>();
            values.put("effect", NamedSql.Parameter.of(key));
            values.put("consumer", NamedSql.Parameter.of(row.number()));
            values.put("name", NamedSql.Parameter.of(saying.effect()));
            values.put("codec", NamedSql.Parameter.of(result == null ? null : result.codec()));
            values.put("result", NamedSql.Parameter.of(result == null ? null : result.bytes()));
            if (execute(connection, saying.made() ? made : notMade, values) == 0) {
                return false;
            }
            audit.write(
                    connection,
                    new AuditRows.Entry(
                            row.number(),
                            row.key(),
                            saying.made() ? "EFFECT_MADE" : "EFFECT_NOT_MADE",
                            saying.actor(),
                            saying.reason(),
                            "message " + id + ": effect " + saying.effect()));
            return true;
        }
        return false;
    }

    private static int execute(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }
}
