package dev.idem.jdbc.schema;

/**
 * Something a start-up check found.
 *
 * @param check the short name of the check
 * @param problem what is wrong
 * @param action what to do about it
 */
public record Finding(Severity severity, String check, String problem, String action) {
    /** Whether Idem can keep its promise all the same. */
    public enum Severity {
        /** It cannot: the store refuses to start. */
        ERROR,
        /** It can, at a price or with a risk that should be known. */
        WARNING
    }

    @Override
    public String toString() {
        return severity + " " + check + ": " + problem + ". " + action;
    }
}
