package dev.idem.jdbc;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import dev.idem.jdbc.schema.Database;

@Tag("quick")
class H2StoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.H2);
    }
}
