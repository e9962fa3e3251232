package dev.idem.jdbc.admin;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.sql.Tables;

/** The tables that a schema tells of, for those who act on them. */
final class SchemaTables {
    private SchemaTables() {}

    static Tables of(JdbcSchema schema) {
        return Tables.of(schema.database(), schema.schemaName(), schema.prefix(), schema.partitioned());
    }
}
