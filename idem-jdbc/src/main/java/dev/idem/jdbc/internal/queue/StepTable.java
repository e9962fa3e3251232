package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** The statements for steps and effects, the same in every dialect but for the clock. Stateless. */
public final class StepTable {
    private static final String SELF = " WHERE consumer = :consumer AND message_key = :key";
    private static final String NAMED = SELF + " AND name = :name";

    private final Dialect dialect;
    private final NamedSql prove;
    private final NamedSql read;
    private final NamedSql claim;
    private final RowsSql open;
    private final NamedSql writer;
    private final NamedSql insert;
    private final NamedSql update;
    private final NamedSql updateInPlace;
    private final NamedSql erase;
    private final NamedSql forgetSteps;
    private final NamedSql closeEffects;

    public StepTable(Tables tables) {
        dialect = tables.dialect();
        QueueSql queue = QueueSql.of(dialect.database());
        prove = new NamedSql(tables.fill("SELECT q.id FROM " + queue.byId()
                + " WHERE q.id = :id AND q.fence = :fence AND q.status = " + QueueState.IN_PROGRESS.code()
                + " FOR UPDATE"));
        read = new NamedSql(
                tables.fill("SELECT name, kind, state, place, fence, effect_key, codec, result, claim_id FROM"
                        + " ${step}" + SELF + " ORDER BY id"));
        claim = new NamedSql(tables.fill("SELECT claim_id, stored_at FROM ${step}" + NAMED));
        open = new RowsSql(tables.fill("SELECT DISTINCT message_key FROM ${step} WHERE consumer = :consumer"
                + " AND place <> " + StepRecord.CLOSED + " AND message_key IN ({:key})"));
        writer = new NamedSql(tables.fill("SELECT claim_id FROM ${step}" + NAMED + " FOR UPDATE"));
        insert = new NamedSql(tables.fill("INSERT INTO ${step} (stored_at, fence, claim_id, message_key, place,"
                + " consumer, kind, state, name, effect_key, codec, result) VALUES (" + queue.now()
                + ", :fence, :claimid, :key, :place, :consumer, :kind, :state, :name, :effectkey, :codec, :result)"));
        String set = "UPDATE ${step} SET stored_at = " + queue.now() + ", fence = :fence, claim_id = :claimid,"
                + " state = :state, effect_key = :effectkey, codec = :codec, result = :result";
        String unlessDone = NAMED + " AND state <> " + StepRecord.State.DONE.code();
        update = new NamedSql(tables.fill(set + ", place = :place" + unlessDone));
        updateInPlace = new NamedSql(tables.fill(set + unlessDone));
        erase = new NamedSql(tables.fill("DELETE FROM ${step}" + NAMED + " AND claim_id = :claimid"));
        forgetSteps =
                new NamedSql(tables.fill("DELETE FROM ${step}" + SELF + " AND kind = " + StepRecord.Kind.STEP.code()));
        // Its window counts from now, as those of the marker and of the copy that is kept for replays do.
        closeEffects = new NamedSql(
                tables.fill("UPDATE ${step} SET stored_at = " + queue.now() + ", place = " + StepRecord.CLOSED + SELF));
    }

    /**
     * Whether the message is still leased under its fence; from then on until the transaction ends nobody can take it over,
     * so this comes late in it.
     */
    boolean prove(Connection connection, QueuedMessage message) throws SQLException {
        Map<String, NamedSql.Parameter> values =
                Map.of("id", NamedSql.Parameter.of(message.id()), "fence", NamedSql.Parameter.of(message.fence()));
        try (PreparedStatement statement = prove.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }

    public List<StepRecord> read(Connection connection, int consumer, UUID key) throws SQLException {
        List<StepRecord> found = new ArrayList<>();
        try (PreparedStatement statement = read.prepare(connection, self(consumer, key));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String codec = row.getString(7);
                byte[] result = row.getBytes(8);
                found.add(new StepRecord(
                        row.getString(1),
                        StepRecord.Kind.of(row.getInt(2)),
                        StepRecord.State.of(row.getInt(3)),
                        row.getInt(4),
                        row.getLong(5),
                        row.getString(6),
                        codec,
                        codec == null || result == null ? null : new StoredResult(codec, result),
                        row.getLong(9)));
            }
        }
        return found;
    }

    /** Those of the messages given that have steps or effects and are not done. */
    Set<UUID> open(Connection connection, int consumer, List<UUID> keys) throws SQLException {
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>();
        keys.forEach(key -> rows.add(Map.of("key", dialect.key().apply(key))));
        Set<UUID> found = new HashSet<>();
        try (PreparedStatement statement =
                        open.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)), () -> rows);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(dialect.keyOf().read(row, 1));
            }
        }
        return found;
    }

    /** Who has written an effect last; nobody else can until the transaction ends. */
    OptionalLong writer(Connection connection, int consumer, MarkerKey key, String name) throws SQLException {
        Map<String, NamedSql.Parameter> values = self(consumer, key.value());
        values.put("name", NamedSql.Parameter.of(name));
        try (PreparedStatement statement = writer.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
        }
    }

    /** Who has stored a step, and when. */
    record Claimed(String claimId, long storedAt) {}

    Optional<Claimed> claim(Connection connection, int consumer, MarkerKey key, String name) throws SQLException {
        Map<String, NamedSql.Parameter> values = self(consumer, key.value());
        values.put("name", NamedSql.Parameter.of(name));
        try (PreparedStatement statement = claim.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(new Claimed(Long.toString(row.getLong(1)), row.getLong(2)))
                    : Optional.empty();
        }
    }

    void insert(Connection connection, int consumer, MarkerKey key, StepRecord step, long claimId) throws SQLException {
        if (execute(connection, insert, values(consumer, key, step, claimId)) != 1) {
            throw new SQLException("A step was not stored: a trigger or a rule is in the way");
        }
    }

    /**
     * In place of what is there under its name, if there is something, unless that is done. One that has no place of its own
     * leaves the place of the delivery that it stands for.
     */
    void put(Connection connection, int consumer, MarkerKey key, StepRecord effect, long writer) throws SQLException {
        NamedSql over = effect.isOpen() ? update : updateInPlace;
        if (execute(connection, over, values(consumer, key, effect, writer)) == 0
                && writer(connection, consumer, key, effect.name()).isEmpty()) {
            insert(connection, consumer, key, effect, writer);
        }
    }

    /** If nobody has written it since. */
    void erase(Connection connection, int consumer, MarkerKey key, String name, long writer) throws SQLException {
        Map<String, NamedSql.Parameter> values = self(consumer, key.value());
        values.put("name", NamedSql.Parameter.of(name));
        values.put("claimid", NamedSql.Parameter.of(writer));
        execute(connection, erase, values);
    }

    /** The message is done: its steps go, its effects stay as a ledger. */
    void close(Connection connection, int consumer, MarkerKey key) throws SQLException {
        execute(connection, forgetSteps, self(consumer, key.value()));
        execute(connection, closeEffects, self(consumer, key.value()));
    }

    private static int execute(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    private Map<String, NamedSql.Parameter> self(int consumer, UUID key) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("key", dialect.key().apply(key));
        return values;
    }

    private Map<String, NamedSql.Parameter> values(int consumer, MarkerKey key, StepRecord step, long claimId) {
        StoredResult result = step.result();
        Map<String, NamedSql.Parameter> values = self(consumer, key.value());
        values.put("name", NamedSql.Parameter.of(step.name()));
        values.put("fence", NamedSql.Parameter.of(step.fence()));
        values.put("claimid", NamedSql.Parameter.of(claimId));
        values.put("place", NamedSql.Parameter.of(step.position()));
        values.put("kind", NamedSql.Parameter.of(step.kind().code()));
        values.put("state", NamedSql.Parameter.of(step.state().code()));
        values.put("effectkey", NamedSql.Parameter.of(step.effectKey()));
        values.put("codec", NamedSql.Parameter.of(result == null ? step.codec() : result.codec()));
        values.put("result", NamedSql.Parameter.of(result == null ? null : result.bytes()));
        return values;
    }
}
