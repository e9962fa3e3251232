package dev.idem.jdbc;

import dev.idem.jdbc.schema.Database;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("quick")
class H2StoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.H2);
    }
}
