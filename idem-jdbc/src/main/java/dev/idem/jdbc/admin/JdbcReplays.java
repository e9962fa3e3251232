package dev.idem.jdbc.admin;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.replay.ReplayRows;
import dev.idem.jdbc.internal.replay.StoredSource;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import java.util.List;
import java.util.Optional;

/**
 * The replay sessions of a store, for operators: shows how they stand, and starts, pauses, resumes and aborts them in the
 * name of a person. They are done by a {@link dev.idem.replay.Replayer} in a service. Thread-safe.
 *
 * <pre>{@code
 * JdbcReplays replays = JdbcReplays.of(JdbcSchema.of(dataSource));
 * replays.as("anna", "the totals were wrong").start("totals-1", "totals", ReplaySpec.of("stored"));
 * }</pre>
 */
public final class JdbcReplays {
    private static final int LARGEST = 1_000;

    private final Tables tables;
    private final ReplayRows rows;

    private JdbcReplays(JdbcSchema schema) {
        tables = SchemaTables.of(schema);
        rows = new ReplayRows(schema.dataSource(), tables);
    }

    public static JdbcReplays of(JdbcSchema schema) {
        return new JdbcReplays(schema);
    }

    /**
     * The messages that a queued consumer has completed and keeps, see {@link dev.idem.queue.QueuePolicy#withPayloadWindow}: {@code
     * stored}, in the order of their receipt, with {@code from} and {@code to} as times of receipt. Only those that were
     * completed before the session was asked for.
     */
    public static ReplaySource stored(JdbcSchema schema) {
        return new StoredSource(schema.dataSource(), SchemaTables.of(schema));
    }

    /** How a session stands. */
    public Optional<ReplaySession> status(String name) {
        return rows.find(name);
    }

    /** The last thousand sessions at most, newest first. */
    public List<ReplaySession> list() {
        return rows.newest(LARGEST);
    }

    /**
     * Acts in the name of a person. Both texts go to the audit.
     *
     * @param actor who, at most 200 characters
     * @param reason why, at most 2,000 characters
     */
    public ReplayOperator as(String actor, String reason) {
        return new ReplayOperator(tables, rows, actor, reason);
    }
}
