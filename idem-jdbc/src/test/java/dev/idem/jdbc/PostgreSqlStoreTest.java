package dev.idem.jdbc;

import org.junit.jupiter.api.BeforeAll;

class PostgreSqlStoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.POSTGRESQL);
    }
}
