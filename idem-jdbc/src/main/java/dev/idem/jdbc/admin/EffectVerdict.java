package dev.idem.jdbc.admin;

import dev.idem.IdemException;
import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.queue.StepTable;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a person has found out about an effect that nobody knew of. It is said of a parked message, which no worker has, and
 * holds for every delivery of that message, in whatever session; so none of them may be inside the call just now. A person who
 * has said that it was made may say again what the answer was.
 */
final class EffectVerdict {
    private final InboxRows rows;
    private final StepTable table;
    private final NamedSql deliveries;
    private final NamedSql made;
    private final NamedSql notMade;
    private final AuditRows audit;

    EffectVerdict(Tables tables, InboxRows rows) {
        this.rows = rows;
        table = new StepTable(tables);
        String now = QueueSql.of(tables.dialect().database()).now();
        deliveries =
                new NamedSql(tables.fill("SELECT s.id, s.claim_id, s.state, s.codec, (SELECT count(*) FROM ${queue} q"
                        + " WHERE q.consumer = s.consumer AND q.message_key = s.message_key AND q.status = "
                        + QueueState.IN_PROGRESS.code() + ") FROM ${step} s WHERE s.consumer = :consumer"
                        + " AND s.effect_key = :effect AND s.name = :name AND s.kind = "
                        + StepRecord.Kind.EFFECT.code()));
        String asRead = " WHERE id = :id AND claim_id = :claimid";
        made = new NamedSql(tables.fill("UPDATE ${step} SET stored_at = " + now + ", codec = :codec, result = :result,"
                + " claim_id = " + StepRecord.PERSON + ", state = " + StepRecord.State.DONE.code() + asRead));
        notMade = new NamedSql(tables.fill("DELETE FROM ${step}" + asRead));
        audit = new AuditRows(tables);
    }

    /**
     * Who says so, and why.
     *
     * @param made whether the effect was made
     */
    record Saying(String effect, boolean made, @Nullable StoredResult result, String actor, String reason) {
        /** Nobody knew, or a person has said it before. */
        private boolean isAbout(StepRecord.State state, long writer) {
            return state != StepRecord.State.DONE || (made && writer == StepRecord.PERSON);
        }
    }

    /** What one delivery has written of the effect. */
    private record Delivery(
            long id,
            long writer,
            StepRecord.State state,
            @Nullable String codec,
            boolean running) {}

    /** Whether there is something to say it about. */
    boolean look(Connection connection, long id, Saying saying) throws SQLException {
        for (InboxRow row : rows.read(connection, List.of(id))) {
            return row.message().state() == QueueState.PARKED
                    && !meant(connection, row, saying).isEmpty();
        }
        return false;
    }

    /** False when the message is not parked, or has no unknown effect of that name. */
    boolean say(Connection connection, long id, Saying saying) throws SQLException {
        for (InboxRow row : rows.lock(connection, List.of(id))) {
            if (row.message().state() != QueueState.PARKED) {
                return false;
            }
            List<Delivery> meant = meant(connection, row, saying);
            if (meant.isEmpty()) {
                return false;
            }
            for (Delivery delivery : meant) {
                change(connection, delivery, saying);
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

    private List<Delivery> meant(Connection connection, InboxRow row, Saying saying) throws SQLException {
        List<Delivery> meant = new ArrayList<>();
        String key = effectKey(connection, row, saying.effect());
        if (key == null) {
            return meant;
        }
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("effect", NamedSql.Parameter.of(key));
        values.put("consumer", NamedSql.Parameter.of(row.number()));
        values.put("name", NamedSql.Parameter.of(saying.effect()));
        try (PreparedStatement statement = deliveries.prepare(connection, values);
                ResultSet found = statement.executeQuery()) {
            while (found.next()) {
                Delivery delivery = new Delivery(
                        found.getLong(1),
                        found.getLong(2),
                        StepRecord.State.of(found.getInt(3)),
                        found.getString(4),
                        found.getInt(5) > 0);
                if (saying.isAbout(delivery.state, delivery.writer)) {
                    check(delivery, saying);
                    meant.add(delivery);
                }
            }
        }
        return meant;
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

    private static void check(Delivery delivery, Saying saying) {
        if (delivery.running) {
            throw new IdemException(
                    "A worker has another delivery of this message now, and may be making effect " + saying.effect()
                            + ": wait until it is done with it",
                    null);
        }
        String wanted = saying.made() ? delivery.codec : null;
        String codec = saying.result() == null ? null : saying.result().codec();
        // A person who has said it before may know by now that the handler wants another codec.
        boolean fits = delivery.state == StepRecord.State.DONE ? codec != null : Objects.equals(wanted, codec);
        if (wanted != null && !fits) {
            throw new IdemException(
                    "The handler wants a result of effect " + saying.effect() + ", by codec " + wanted
                            + (codec == null
                                    ? ": say what the provider answered, with --answer or effectWasMade(id, effect, codec, answer)"
                                    : ", and cannot read one by codec " + codec),
                    null);
        }
    }

    private void change(Connection connection, Delivery delivery, Saying saying) throws SQLException {
        StoredResult result = saying.result();
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("id", NamedSql.Parameter.of(delivery.id));
        values.put("claimid", NamedSql.Parameter.of(delivery.writer));
        values.put("codec", NamedSql.Parameter.of(result == null ? null : result.codec()));
        values.put("result", NamedSql.Parameter.of(result == null ? null : result.bytes()));
        try (PreparedStatement statement = (saying.made() ? made : notMade).prepare(connection, values)) {
            if (statement.executeUpdate() == 0) {
                throw new SQLException("Somebody else has written about the effect", "40001");
            }
        }
    }
}
