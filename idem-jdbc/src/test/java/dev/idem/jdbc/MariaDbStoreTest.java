package dev.idem.jdbc;

import dev.idem.jdbc.schema.Database;
import org.junit.jupiter.api.BeforeAll;

class MariaDbStoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.MARIADB);
    }
}
