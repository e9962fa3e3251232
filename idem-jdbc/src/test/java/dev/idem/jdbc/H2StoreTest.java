package dev.idem.jdbc;

import org.junit.jupiter.api.BeforeAll;

class H2StoreTest extends JdbcStoreContract {
    @BeforeAll
    static void open() {
        open(Database.H2);
    }
}
