package dev.idem.jdbc;

/** The tables that a schema tells of, for those who act on them. */
final class SchemaTables {
    private SchemaTables() {}

    static Tables of(JdbcSchema schema) {
        return Tables.of(schema.database(), schema.schemaName(), schema.prefix(), schema.partitioned());
    }
}
