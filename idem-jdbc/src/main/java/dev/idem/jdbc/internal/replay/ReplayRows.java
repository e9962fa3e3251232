package dev.idem.jdbc.internal.replay;

import dev.idem.Policy;
import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.replay.ReplaySession;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.ReplayStore;
import dev.idem.spi.StepRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Replay sessions as rows. An executor's change carries the fence of its claim, a person's the state that was read, and
 * each change of state is audited in its transaction. Thread-safe.
 */
public final class ReplayRows implements ReplayStore {
    private static final int LONGEST_ERROR = 2_000;

    private final ShortTransactions transactions;
    private final ReplaySql sql;
    private final AuditRows audit;
    private final ReplayLook look;

    public ReplayRows(DataSource dataSource, Tables tables) {
        transactions = new ShortTransactions(dataSource, tables);
        sql = new ReplaySql(tables);
        audit = new AuditRows(tables);
        look = new ReplayLook(tables);
    }

    @Override
    public Optional<ReplaySession> find(String name) {
        return tried(
                "look for a replay session", connection -> row(connection, name).map(ReplayRow::session));
    }

    public List<ReplaySession> newest(int limit) {
        return tried(
                "list replay sessions",
                connection -> rows(sql.list.prepare(connection, Map.of("limit", NamedSql.Parameter.of(limit)))).stream()
                        .map(ReplayRow::session)
                        .toList());
    }

    public Optional<ReplayRow> row(Connection connection, String name) throws SQLException {
        return rows(sql.find.prepare(connection, Map.of("name", NamedSql.Parameter.of(name)))).stream()
                .findFirst();
    }

    private static List<ReplayRow> rows(PreparedStatement prepared) throws SQLException {
        List<ReplayRow> found = new ArrayList<>();
        try (PreparedStatement statement = prepared;
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(ReplayRow.of(rows));
            }
        }
        return found;
    }

    /** Its place among the consumer's sessions is taken for as long as the transaction lasts. */
    public void insert(Connection connection, Map<String, NamedSql.Parameter> values) throws SQLException {
        update(connection, sql.count, values);
        update(connection, sql.insert, values);
    }

    /** A person's change; false if somebody was faster. */
    public boolean move(Connection connection, ReplayRow row, ReplaySession.State to) throws SQLException {
        Map<String, NamedSql.Parameter> values = held(row.session());
        values.put("from", NamedSql.Parameter.of(row.session().state().name()));
        values.put("to", NamedSql.Parameter.of(to.name()));
        return update(connection, sql.move, values) == 1;
    }

    public void audit(Connection connection, int consumer, String action, String actor, String reason, String detail)
            throws SQLException {
        audit.write(connection, new AuditRows.Entry(consumer, null, action, actor, reason, detail));
    }

    @Override
    public Optional<ReplaySession> claim(Collection<String> consumers, String worker, Duration lease) {
        return tried("claim a replay session", connection -> {
            List<Map<String, NamedSql.Parameter>> names = new ArrayList<>();
            consumers.forEach(name -> names.add(Map.of("consumer", NamedSql.Parameter.of(name))));
            for (ReplayRow row : rows(sql.claimable.prepare(connection, Map.of(), () -> names))) {
                Map<String, NamedSql.Parameter> values = held(row.session());
                values.put("from", NamedSql.Parameter.of(row.session().state().name()));
                values.put("worker", NamedSql.Parameter.of(worker));
                values.put("lease", NamedSql.Parameter.of(Micros.of(lease)));
                if (update(connection, sql.claim, values) == 1) {
                    audit(
                            connection,
                            row,
                            "REPLAY_RUNNING",
                            worker,
                            "from " + row.session().cursor().orElse("the beginning"));
                    return row(connection, row.session().name()).map(ReplayRow::session);
                }
            }
            return Optional.empty();
        });
    }

    private void audit(Connection connection, ReplayRow row, String action, String worker, String detail)
            throws SQLException {
        audit(
                connection,
                row.number(),
                action,
                worker,
                row.session().reason(),
                "session " + row.session().name() + ": " + detail);
    }

    @Override
    public Optional<ReplaySession> progress(ReplaySession claimed, @Nullable Step step, Duration lease) {
        return tried("write down how far a replay is", connection -> {
            Map<String, NamedSql.Parameter> values = held(claimed);
            values.put("lease", NamedSql.Parameter.of(Micros.of(lease)));
            if (step != null) {
                put(values, step);
            }
            boolean first = claimed.policy().isEmpty()
                    && step != null
                    && row(connection, claimed.name())
                            .flatMap(row -> row.session().policy())
                            .isEmpty();
            if (update(connection, step == null ? sql.renew : sql.step, values) != 1) {
                return Optional.empty();
            }
            Optional<ReplayRow> row = row(connection, claimed.name());
            if (step != null && first && row.isPresent()) {
                begin(connection, row.get(), step.policy());
            }
            return row.map(ReplayRow::session);
        });
    }

    /**
     * What steps of messages that were given up have written is gone where everything is written once more: who retries such a
     * message later does all of its steps. Its effects stay in the ledger.
     */
    private void begin(Connection connection, ReplayRow row, Policy.Replay policy) throws SQLException {
        boolean rebuilds = policy == Policy.Replay.ALLOWED || policy == Policy.Replay.SUPPRESS_EFFECTS;
        boolean stored = row.session().source().startsWith(StoredSource.SCHEME);
        if (rebuilds && stored && !row.session().dryRun()) {
            update(connection, sql.forgetSkipped, Map.of("consumer", NamedSql.Parameter.of(row.number())));
        }
    }

    private static void put(Map<String, NamedSql.Parameter> values, Step step) {
        values.put("policy", NamedSql.Parameter.of(step.policy().name()));
        values.put("place", NamedSql.Parameter.of(step.cursor()));
        values.put(
                "total",
                step.total().isPresent()
                        ? NamedSql.Parameter.of(step.total().getAsLong())
                        : (s, i) -> s.setNull(i, Types.BIGINT));
        values.put("decided", NamedSql.Parameter.of(step.counts().read()));
        values.put("processed", NamedSql.Parameter.of(step.counts().processed()));
        values.put("duplicates", NamedSql.Parameter.of(step.counts().duplicates()));
        values.put("suppressed", NamedSql.Parameter.of(step.counts().suppressed()));
        values.put("undecidable", NamedSql.Parameter.of(step.counts().undecidable()));
        values.put("rejected", NamedSql.Parameter.of(step.counts().rejected()));
        values.put("failed", NamedSql.Parameter.of(step.counts().failed()));
        values.put("error", NamedSql.Parameter.of(error(step.error())));
        values.put("effects", NamedSql.Parameter.of(step.effects() == null ? null : EffectText.of(step.effects())));
    }

    private static @Nullable String error(@Nullable String text) {
        return text == null ? null : StoredText.storable(text.substring(0, Math.min(text.length(), LONGEST_ERROR)));
    }

    @Override
    public boolean end(ReplaySession claimed, ReplaySession.State state, @Nullable String error) {
        return tried("end a replay session", connection -> {
            Map<String, NamedSql.Parameter> values = held(claimed);
            values.put("to", NamedSql.Parameter.of(state.name()));
            values.put("error", NamedSql.Parameter.of(error(error)));
            ReplayRow row = row(connection, claimed.name()).orElse(null);
            if (row == null || update(connection, sql.end, values) != 1) {
                return false;
            }
            audit(
                    connection,
                    row,
                    "REPLAY_" + state,
                    claimed.worker().orElse("unknown"),
                    row.session().counts().toString());
            return true;
        });
    }

    @Override
    public void release(ReplaySession claimed) {
        tried("let a replay session go", connection -> update(connection, sql.release, held(claimed)));
    }

    @Override
    public Set<MarkerKey> marked(String consumer, List<MarkerKey> keys) {
        return tried("look for markers", connection -> look.marked(connection, consumer, keys));
    }

    @Override
    public Set<MarkerKey> waiting(String consumer, List<MarkerKey> keys) {
        return tried("look for stored messages", connection -> look.waiting(connection, consumer, keys));
    }

    @Override
    public Map<MarkerKey, Map<String, StepRecord.State>> effects(String consumer, List<MarkerKey> keys) {
        return tried("look for effects", connection -> look.effects(connection, consumer, keys));
    }

    @Override
    public Set<String> effectNames(String consumer) {
        return tried("look for the names of effects", connection -> look.names(connection, consumer));
    }

    @Override
    public Optional<Instant> horizon(String consumer) {
        return tried("look for the horizon", connection -> {
            try (PreparedStatement statement =
                            sql.horizon.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)));
                    ResultSet row = statement.executeQuery()) {
                long horizon = row.next() ? Micros.read(row, 1, Micros.NEVER) : Micros.NEVER;
                return horizon == Micros.NEVER ? Optional.empty() : Optional.of(Micros.instant(horizon));
            }
        });
    }

    private static Map<String, NamedSql.Parameter> held(ReplaySession session) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("name", NamedSql.Parameter.of(session.name()));
        values.put("fence", NamedSql.Parameter.of(session.fence()));
        return values;
    }

    private static int update(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    /** In a transaction of its own, again if it met another one. */
    public <T> T tried(String what, ShortTransactions.Doing<T> doing) {
        return transactions.tried(what, doing);
    }
}
