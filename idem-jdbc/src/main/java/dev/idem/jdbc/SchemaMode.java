package dev.idem.jdbc;

/** What to do about the tables at start. */
public enum SchemaMode {
    /** Create what is missing, on any database; needs the right to create tables. For a first look, and for tests. */
    CREATE,
    /** Create what is missing on an embedded database (H2), and in the test kit; validate on a server. The default. */
    CREATE_IF_EMBEDDED,
    /** Create nothing, and refuse to start if the tables are missing or wrong. */
    VALIDATE,
    /** Do nothing, and look at nothing; the first message will. */
    NOTHING
}
