package dev.idem.jdbc.internal.sql;

import dev.idem.StoreException;
import dev.idem.spi.TransientStoreException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Says what an {@link SQLException} means, by SQLState and vendor code alone. */
public final class SqlFaults {
    /** In the class of deadlocks, but says the opposite: CockroachDB answers it to a commit that may be done. */
    private static final String STATEMENT_COMPLETION_UNKNOWN = "40003";

    private static final String DATA_EXCEPTION = "22";

    private static final Map<String, String> ADVICE = Map.of(
            "42P01", "the tables do not exist; create them: idem schema apply",
            "42S02", "the tables do not exist; create them: idem schema apply",
            "42S03", "the tables do not exist; create them: idem schema apply", // H2, where other tables have similar
            // names
            "42S04", "the tables do not exist; create them: idem schema apply", // H2, where there are none at all
            "3F000", "create the schema, or set another one",
            "42501",
                    "the role lacks a right on one of Idem's tables; idem schema validate, with its account, names the grant; row"
                            + " policies on these tables must go",
            "25006", "connect to the primary: this connection is read-only",
            "26000", "behind PgBouncer add prepareThreshold=0 to the URL",
            "42P05", "behind PgBouncer add prepareThreshold=0 to the URL",
            "08P01", "behind PgBouncer add prepareThreshold=0 to the URL");

    private static final Set<String> ABSENT = Set.of("42P01", "42S02", "42S03", "42S04", "3F000", "90079");
    private static final Set<String> DENIED = Set.of("42501", "90096");

    /** Of MariaDB, which has no state for it. */
    private static final Set<Integer> DENIED_CODES = Set.of(1044, 1142, 1143);

    private static final int LONGEST_QUOTE = 300;
    private static final int MOST_NEXT = 10;

    private final FaultCodes codes;

    public SqlFaults(FaultCodes codes) {
        this.codes = codes;
    }

    public boolean isBusy(SQLException failure) {
        return codes.busyStates().contains(state(failure)) || codes.busyCodes().contains(failure.getErrorCode());
    }

    public boolean isBroken(SQLException failure) {
        return failure instanceof ClaimLost
                || codes.brokenStates().contains(state(failure))
                || codes.brokenCodes().contains(failure.getErrorCode())
                || isSigned(failure);
    }

    private boolean isSigned(SQLException failure) {
        String text = failure.getMessage();
        return !codes.brokenSign().isEmpty()
                && stateClass(failure).equals(DATA_EXCEPTION)
                && text != null
                && text.contains(codes.brokenSign());
    }

    /** True when the server answered, whatever it said, and its connection goes on. */
    public boolean isAnswer(SQLException failure) {
        return !state(failure).isEmpty()
                && !state(failure).equals(STATEMENT_COMPLETION_UNKNOWN)
                && !isTransient(failure)
                && !isConnectionLost(failure);
    }

    /** True when the server has surely rolled back: it answered, and the answer was no. */
    public boolean isRefused(SQLException failure) {
        return codes.refusedClasses().contains(stateClass(failure))
                && !state(failure).equals(STATEMENT_COMPLETION_UNKNOWN);
    }

    /** True when an exception of a handler, anywhere in its causes, says that the transaction was undone from outside. */
    public boolean isTransient(Throwable failure) {
        return isAnywhere(failure, this::isTransientSql);
    }

    /** True when the server has rolled back the whole transaction by itself: there is no savepoint to go back to. */
    public boolean endsTransaction(SQLException failure) {
        return isAnywhere(failure, sql -> codes.endingCodes().contains(sql.getErrorCode()));
    }

    /** True when a transaction was undone to let another one through: it surely did not commit, and can be repeated. */
    boolean isUndone(SQLException failure) {
        return endsTransaction(failure) || isAnywhere(failure, SqlFaults::isUndoneState);
    }

    public static boolean isUndoneState(SQLException failure) {
        return stateClass(failure).equals("40") && !state(failure).equals(STATEMENT_COMPLETION_UNKNOWN);
    }

    /** The same for a connection that is ended, whoever ended it. */
    public boolean isConnectionLost(Throwable failure) {
        return isAnywhere(
                failure,
                sql -> isConnectionState(sql)
                        || codes.lostStates().contains(state(sql))
                        || codes.lostCodes().contains(sql.getErrorCode()));
    }

    /** The same for a server that lacks disk or memory. */
    public boolean isOutOfResources(Throwable failure) {
        return isAnywhere(
                failure,
                sql -> codes.scarceStates().contains(state(sql))
                        || codes.scarceCodes().contains(sql.getErrorCode()));
    }

    /** Whether an exception, or one of its causes, is an error of a database of that kind. */
    public static boolean isAnywhere(Throwable failure, Predicate<SQLException> kind) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
            if (cause instanceof SQLException chain) {
                for (SQLException sql = chain; sql != null; sql = sql.getNextException()) {
                    if (kind.test(sql)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean isTransientSql(SQLException failure) {
        return isTransientClass(failure)
                || isConnectionState(failure)
                || codes.transientStates().contains(state(failure))
                || codes.transientCodes().contains(failure.getErrorCode());
    }

    /**
     * Only without a state: MariaDB's driver answers a connection's failure for every state that it does not know, also for
     * what a trigger signals.
     */
    private static boolean isTransientClass(SQLException failure) {
        boolean passes = failure instanceof SQLTransientException && !(failure instanceof SQLTimeoutException);
        return state(failure).isEmpty() && (passes || failure instanceof SQLRecoverableException);
    }

    static boolean isConnectionState(SQLException failure) {
        return stateClass(failure).equals("08");
    }

    /** A constraint, of whatever kind. */
    public static boolean isViolation(SQLException failure) {
        return stateClass(failure).equals("23");
    }

    /** A failure of the store's own statement, with what to do about it. */
    public StoreException explained(String what, Object key, SQLException failure) {
        String text = "Could not " + what + " " + key + " (SQLState " + state(failure) + ", code "
                + failure.getErrorCode() + "): " + advice(failure);
        // A plan that a migration has outdated; as an error of a handler's own statement this state says nothing.
        boolean outdated = state(failure).equals("0A000");
        return outdated || isTransient(failure)
                ? new TransientStoreException(text, failure)
                : new StoreException(text, failure);
    }

    /** A failure of an operation on some tables, with what to do about it. */
    public static StoreException failed(String what, Object tables, SQLException failure) {
        return new StoreException(
                "Could not " + what + " in " + tables + " (SQLState " + failure.getSQLState() + "): " + advice(failure),
                failure);
    }

    /** What to do about an error, by its state; for the end of a sentence. */
    public static String advice(SQLException failure) {
        return advice(failure, "the database says: " + quoted(failure));
    }

    /** The same error without what a server adds about a violation: that is the row, and so the payload. */
    public static SQLException withoutRow(SQLException failure) {
        SQLException told = new SQLException(quoted(failure), failure.getSQLState(), failure.getErrorCode());
        told.setStackTrace(failure.getStackTrace());
        return told;
    }

    /** Whether tables, or the schema they should be in, do not exist. */
    public static boolean isAbsent(SQLException failure) {
        return ABSENT.contains(state(failure));
    }

    /** Whether the account may not do what was asked. */
    public static boolean isDenied(SQLException failure) {
        return DENIED.contains(state(failure)) || DENIED_CODES.contains(failure.getErrorCode());
    }

    /**
     * What the database said, on one line: what it adds on others may quote a row. A driver that speaks for a batch quotes the
     * whole statement, so there the server's own words are taken.
     */
    public static String quoted(SQLException failure) {
        SQLException said = failure;
        for (int i = 0; i < MOST_NEXT && said instanceof BatchUpdateException && said.getNextException() != null; i++) {
            said = said.getNextException();
        }
        String text = said instanceof BatchUpdateException ? null : said.getMessage();
        if (text == null || text.isBlank()) {
            return said.getClass().getName();
        }
        String line = text.strip().lines().findFirst().orElse("").replaceAll("\\p{Cntrl}", " ");
        return line.length() <= LONGEST_QUOTE ? line : line.substring(0, LONGEST_QUOTE) + "…";
    }

    /** Which table is missing only the database knows. */
    public static String advice(SQLException failure, String otherwise) {
        String known = ADVICE.get(state(failure));
        if (known == null) {
            return otherwise;
        }
        return isAbsent(failure) ? known + "; the database says: " + quoted(failure) : known;
    }

    private static String state(SQLException failure) {
        @Nullable String state = failure.getSQLState();
        return state == null ? "" : state;
    }

    private static String stateClass(SQLException failure) {
        String state = state(failure);
        return state.length() < 2 ? "" : state.substring(0, 2);
    }
}
