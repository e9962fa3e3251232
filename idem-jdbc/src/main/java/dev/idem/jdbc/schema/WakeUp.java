package dev.idem.jdbc.schema;

/** How the workers of a queue hear of what other instances store. Those of the same instance hear of it in any case. */
public enum WakeUp {
    /**
     * By {@code LISTEN} and {@code NOTIFY} on PostgreSQL, and by polling on other databases; the default. An instance with
     * workers keeps one connection of its data source for it. Where notifications do not arrive, as behind PgBouncer in
     * transaction mode, this is noticed at start, and the workers poll.
     */
    NOTIFY,
    /** By polling alone: nothing is sent, and no connection is kept. */
    POLL
}
