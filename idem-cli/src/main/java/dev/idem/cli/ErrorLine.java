package dev.idem.cli;

import dev.idem.servers.ServerUnavailable;
import java.sql.SQLException;
import java.util.Set;

/** Says in one line what went wrong and what to try. */
final class ErrorLine {
    /** MariaDB has no state of its own for a missing privilege: on the database, on the table. */
    private static final Set<Integer> MARIADB_DENIED = Set.of(1044, 1142);

    private ErrorLine() {}

    static String of(Throwable error) {
        if (error instanceof CliException || error instanceof MissingException || error instanceof ServerUnavailable) {
            return oneLine(error);
        }
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                return database(error, sql);
            }
        }
        return oneLine(error) + " (--verbose shows where)";
    }

    private static String database(Throwable error, SQLException sql) {
        String state = sql.getSQLState() == null ? "" : sql.getSQLState();
        String said = oneLine(sql);
        if (said.startsWith("No suitable driver")) {
            return "No driver understands this address. Give --url as jdbc:postgresql:…, jdbc:mariadb:… or jdbc:h2:…";
        }
        if (state.startsWith("08")) {
            return "The database cannot be reached: " + said + ". Check --url, and that the server is running";
        }
        if (state.startsWith("28")) {
            return "The database refused the login: " + said + ". Check --user and --password-env";
        }
        if (state.equals("42501") || MARIADB_DENIED.contains(sql.getErrorCode())) {
            return "The account may not do this: " + said
                    + ". Use an account that may: the tables' owner for 'idem schema apply' and for partitions, else one with the"
                    + " rights of an operator or service, which docs/operations.md lists under The least rights";
        }
        String told = error == sql ? said : oneLine(error);
        String marked =
                state.isEmpty() || told.contains("SQLState " + state) ? told : told + " (SQLState " + state + ")";
        return marked + " (--verbose shows where)";
    }

    private static String oneLine(Throwable error) {
        String message = error.getMessage();
        if (message == null || message.isBlank()) {
            return error.getClass().getName();
        }
        String line = String.join(" ", message.strip().split("\\s*\\R\\s*", -1));
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
