package dev.idem.jdbc;

import org.junit.jupiter.api.BeforeAll;
import dev.idem.jdbc.schema.Database;

class MariaDbStoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.MARIADB);
    }
}
