package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.BatchSql;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The savepoint before which nothing of a unit lies, so that the unit can be undone alone. It is set as late as possible:
 * with the unit's first statement, and where the driver sends several statements at once, in the same round trip. Setting
 * it releases the one of the unit before, which fails when that unit has ended the transaction. Two names take turns, so
 * that going back can never reach the wrong one.
 */
public final class UnitSavepoint {
    /** How many results come before those of a statement that carries it: one for the release, one for the savepoint. */
    static final int PREFIX_RESULTS = 2;

    private static final String[] NAMES = {"idem_unit_a", "idem_unit_b"};
    /** No such savepoint; no transaction at all; one that was given up before this unit. */
    private static final Set<String> GONE = Set.of("3B001", "25P01", "25P02");

    private final String first;
    private final String[] next = new String[2];
    private boolean carried;
    private int set;
    private State state = State.UNSET;
    private @Nullable SQLException failure;

    private enum State {
        /** The unit has sent nothing yet. */
        UNSET,
        SET,
        /** The statement that carries it failed, perhaps before it reached the server. */
        UNCERTAIN,
        /** It could not be set. */
        FAILED
    }

    /** @param token what the claims said of their transaction, if the database has a name for it */
    public UnitSavepoint(BatchSql sql, @Nullable String token) {
        carried = sql.carried();
        first = sql.firstSavepoint().replace("${next}", NAMES[0]);
        for (int i = 0; i < 2; i++) {
            next[i] = sql.nextSavepoint()
                    .replace("${last}", NAMES[1 - i])
                    .replace("${next}", NAMES[i])
                    .replace("${token}", token == null ? "" : token);
        }
    }

    /** A unit begins; the next statement needs the savepoint first. */
    public void begin() {
        state = State.UNSET;
        failure = null;
    }

    public boolean isPending() {
        return state == State.UNSET;
    }

    /** Whether the next statement needs it first: nobody has set it, or nobody knows. */
    boolean isMissing() {
        return state == State.UNSET || state == State.UNCERTAIN;
    }

    /**
     * Not the first one: that it releases the one before tells afterwards whether a statement that failed was sent. The
     * statement must not be able to end the transaction.
     */
    boolean isCarried() {
        return carried && isPending() && set > 0;
    }

    public boolean isUncertain() {
        return state == State.UNCERTAIN;
    }

    /** Why it could not be set, if so: then the transaction was ended before this unit. */
    @Nullable
    public SQLException failure() {
        return failure;
    }

    /** What to write in front of the unit's first statement. */
    String prefix() {
        return text() + "; ";
    }

    /** Sends the statement that has the prefix. */
    void carry(Transactions.Call statement) throws SQLException {
        state = State.UNCERTAIN;
        try {
            statement.run();
            done();
        } catch (SQLException thrown) {
            if (GONE.contains(thrown.getSQLState())) {
                state = State.FAILED;
                failure = thrown;
            }
            throw thrown;
        }
    }

    /** Fails after a statement that carried it and reached the server: the savepoint before was released there. */
    public void set(Connection real) throws SQLException {
        if (state == State.UNCERTAIN) {
            execute(real, text());
            done();
        } else if (state == State.UNSET) {
            setFirst(real);
        }
    }

    private void setFirst(Connection real) throws SQLException {
        state = State.FAILED;
        try {
            carried = carried && (set > 0 || !PgDriver.setsSavepoints(real));
            execute(real, text());
            done();
        } catch (SQLException thrown) {
            failure = thrown;
            throw thrown;
        } catch (RuntimeException | Error thrown) {
            // Nobody knows how far it came, and an older savepoint may have the same name: give the connection up.
            failure = new SQLException("The savepoint of a unit may not be set", "08000", thrown);
            throw thrown;
        }
    }

    private void done() {
        set++;
        state = State.SET;
    }

    /** Undoes the unit. */
    public void rollBack(Connection real) throws SQLException {
        if (state == State.UNCERTAIN && isSetNow(real)) {
            return; // so nothing of the unit is there
        }
        execute(real, "ROLLBACK TO SAVEPOINT " + NAMES[(state == State.SET ? set - 1 : set) % 2]);
        if (state == State.UNCERTAIN) {
            done();
        }
    }

    private boolean isSetNow(Connection real) {
        try {
            set(real);
            return true;
        } catch (SQLException sent) {
            return false;
        }
    }

    private String text() {
        return set == 0 ? first : next[set % 2];
    }

    /** How many times it was set in this transaction. */
    public int count() {
        return set;
    }

    private static void execute(Connection real, String text) throws SQLException {
        try (Statement statement = real.createStatement()) {
            statement.execute(text);
        }
    }
}
