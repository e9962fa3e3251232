package dev.idem.jdbc.admin;

import dev.idem.IdemException;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.replay.ReplayRow;
import dev.idem.jdbc.internal.replay.ReplayRows;
import dev.idem.jdbc.internal.replay.StoredSource;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySpec;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A person who asks for replays, made by {@link JdbcReplays#as}. Each change is audited in its transaction; done twice, it
 * changes nothing the second time. Immutable and thread-safe.
 */
public final class ReplayOperator {
    private static final long DEFAULT_RATE = 100;
    private static final long HIGHEST_RATE = 1_000_000;

    private static final String LET_BEGIN_AGAIN = "Let them begin again (restartingHalfDone), if what their steps have"
            + " written is emptied. Or close the services that handle them, retry or skip what is parked, and ask again when"
            + " none is half done";
    private static final String ASK_AGAIN =
            "Workers have some of them now, or they were received outside of the session's"
                    + " times. Ask again in a moment; if that does not help, close the services that handle them";

    private final Tables tables;
    private final ReplayRows rows;
    private final String actor;
    private final String reason;
    private final long perSecond;
    private final boolean dryRun;
    private final boolean restarts;

    ReplayOperator(Tables tables, ReplayRows rows, String actor, String reason) {
        this(
                tables,
                rows,
                InboxOperator.text("actor", actor, InboxOperator.LONGEST_ACTOR),
                InboxOperator.text("reason", reason, InboxOperator.LONGEST_REASON),
                DEFAULT_RATE,
                false,
                false);
    }

    private ReplayOperator(
            Tables tables,
            ReplayRows rows,
            String actor,
            String reason,
            long perSecond,
            boolean dryRun,
            boolean restarts) {
        this.tables = tables;
        this.rows = rows;
        this.actor = actor;
        this.reason = reason;
        this.perSecond = perSecond;
        this.dryRun = dryRun;
        this.restarts = restarts;
    }

    /** How many messages each second at most; default 100. */
    public ReplayOperator perSecond(long messages) {
        if (messages < 1 || messages > HIGHEST_RATE) {
            throw new IllegalArgumentException("perSecond is " + messages + ", but must be 1 to " + HIGHEST_RATE);
        }
        return new ReplayOperator(tables, rows, actor, reason, messages, dryRun, restarts);
    }

    /** The session only counts what it would do. */
    public ReplayOperator dryRun() {
        return new ReplayOperator(tables, rows, actor, reason, perSecond, true, restarts);
    }

    /**
     * Messages that are half done, in steps, begin again from their first step: for a session that rebuilds what was emptied,
     * the work of these steps among it. Where it was not, it is there twice then. Default: while there are such messages, no
     * session of {@code stored} ones begins. One that a worker has now, or that was received outside of the session's times,
     * keeps it from beginning all the same.
     */
    public ReplayOperator restartingHalfDone() {
        return new ReplayOperator(tables, rows, actor, reason, perSecond, dryRun, true);
    }

    /**
     * Asks for a session. It begins when an executor of the consumer takes it.
     *
     * @param name given once and never again, because what the session has done is remembered under it
     * @throws IdemException if the name is taken, these tables know no such consumer, or messages of it are half done in
     *     steps and {@code stored} ones are to be replayed
     */
    public ReplaySession start(String name, String consumer, ReplaySpec source) {
        return rows.tried("ask for a replay session", connection -> start(connection, name, consumer, source));
    }

    /**
     * Asks for a session in a transaction of the caller's: that which empties a projection, say, so that what was completed
     * before is replayed and what is completed after it is not. Empty it first: what then is half done, in steps, makes
     * this refuse, or begins again with {@link #restartingHalfDone}.
     */
    public ReplaySession startWithin(Connection outer, String name, String consumer, ReplaySpec source)
            throws SQLException {
        if (outer.getAutoCommit()) {
            throw new IllegalArgumentException("The connection has autocommit on, so it has no transaction");
        }
        if (asksForHalfDone(source)
                && tables.dialect().database() != Database.MARIADB
                && outer.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
            throw new IllegalArgumentException(
                    "The transaction reads what was committed before it began, and so would not"
                            + " see what is half done: set the connection to READ COMMITTED");
        }
        return start(outer, name, consumer, source);
    }

    private ReplaySession start(Connection connection, String name, String consumer, ReplaySpec source)
            throws SQLException {
        if (!ReplaySession.isName(name)) {
            throw new IllegalArgumentException("The name of a session must be 1 to 100 letters, digits or . _ : - and"
                    + " start with a letter or digit");
        }
        int number = KnownConsumer.number(connection, tables, consumer)
                .orElseThrow(() ->
                        new IdemException(tables + " know no consumer " + consumer + ": is this its database?", null));
        if (rows.row(connection, name).isPresent()) {
            throw new IdemException("There is a replay session " + name + " already; give it another name", null);
        }
        int restarted = asksForHalfDone(source) ? withHalfDone(connection, number, consumer, source) : 0;
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("name", NamedSql.Parameter.of(name));
        values.put("consumer", NamedSql.Parameter.of(number));
        values.put("source", NamedSql.Parameter.of(StoredText.storable(source.toString())));
        values.put("actor", NamedSql.Parameter.of(actor));
        values.put("reason", NamedSql.Parameter.of(reason));
        values.put("rate", NamedSql.Parameter.of(perSecond));
        values.put("dry", NamedSql.Parameter.of(dryRun ? 1 : 0));
        rows.insert(connection, values);
        String how = (dryRun ? ", dry run" : "") + (restarted > 0 ? ", " + restarted + " half-done begin again" : "");
        audit(connection, number, "REPLAY_START", name, source + ", " + perSecond + "/s" + how);
        return rows.row(connection, name)
                .orElseThrow(() -> new SQLException("A replay session was inserted but cannot be read"))
                .session();
    }

    /**
     * Of a message that is half done, some steps are from before the session and some will be from after it: neither with nor
     * without a replay would each be there once. Answers how many begin again.
     */
    private int withHalfDone(Connection connection, int number, String consumer, ReplaySpec source)
            throws SQLException {
        HalfDone halfDone = new HalfDone(tables);
        HalfDone.Restart restart = restarts
                ? halfDone.restart(connection, number, source)
                : new HalfDone.Restart(0, halfDone.count(connection, number));
        if (restart.left() > 0) {
            throw new IdemException(
                    restart.left() + " messages of " + consumer
                            + " have done some of their steps, and not all: a session now"
                            + " would lose, or repeat, those. " + (restarts ? ASK_AGAIN : LET_BEGIN_AGAIN)
                            + "; docs/replay.md says how",
                    null);
        }
        return restart.begun();
    }

    private boolean asksForHalfDone(ReplaySpec source) {
        return !dryRun && source.scheme().equals(StoredSource.SCHEME);
    }

    private void audit(Connection connection, int consumer, String action, String name, String detail)
            throws SQLException {
        rows.audit(connection, consumer, action, actor, reason, "session " + name + ": " + detail);
    }

    /** Stops sending, within a second or so; what is being handled is finished. */
    public ReplaySession pause(String name) {
        return move(name, State.PAUSED, EnumSet.of(State.REQUESTED, State.RUNNING), "REPLAY_PAUSE");
    }

    /** Goes on where it was paused, or failed. */
    public ReplaySession resume(String name) {
        return move(name, State.REQUESTED, EnumSet.of(State.PAUSED, State.FAILED), "REPLAY_RESUME");
    }

    /** Gives it up for good: nothing more is sent, and what of it still waits in a queue is suppressed. */
    public ReplaySession abort(String name) {
        return move(
                name,
                State.ABORTED,
                EnumSet.of(State.REQUESTED, State.RUNNING, State.PAUSED, State.FAILED),
                "REPLAY_ABORT");
    }

    private ReplaySession move(String name, State to, Set<State> from, String action) {
        return rows.tried("change a replay session", connection -> {
            ReplayRow row = rows.row(connection, name)
                    .orElseThrow(() -> new IdemException("There is no replay session " + name + " in " + tables, null));
            State state = row.session().state();
            if (state == to || (to == State.REQUESTED && state == State.RUNNING)) {
                return row.session();
            }
            if (!from.contains(state)) {
                throw new IdemException("Replay session " + name + " is " + state + ", so this cannot be done", null);
            }
            if (!rows.move(connection, row, to)) {
                throw new SQLException("The session was changed by somebody else", "40001");
            }
            audit(connection, row.number(), action, name, state + " → " + to);
            return rows.row(connection, name).orElse(row).session();
        });
    }
}
