package dev.idem.jdbc;

/** What to do about the tables at start. */
public enum SchemaMode {
    /** Create what is missing, on any database; needs the right to create tables. */
    ALWAYS,
    /** Create on an embedded database, validate on a server. The default. */
    EMBEDDED,
    /** Refuse to start if the tables are missing or wrong. */
    VALIDATE,
    /** Look at nothing; the first message will. */
    NEVER
}
