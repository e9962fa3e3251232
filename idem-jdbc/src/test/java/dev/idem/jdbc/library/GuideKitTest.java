package dev.idem.jdbc.library;

import dev.idem.Message;
import dev.idem.jdbc.JdbcStore;
import dev.idem.test.IdempotencyTest;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The guide's snippet for testing a handler that writes. */
class GuideKitTest {
    private static final DataSource dataSource =
            JdbcConnectionPool.create("jdbc:h2:mem:guide;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=5000", "sa", "");
    private final Message message = Message.of("event-1", "order-42".getBytes(StandardCharsets.UTF_8));

    // region handler-test
    @RegisterExtension
    static final IdempotencyTest idem = IdempotencyTest.on(dataSource)
            .store(JdbcStore::create)
            .schema("CREATE TABLE payment (order_id VARCHAR(40))");

    @Test
    void paysOnce() {
        idem.deliver(inbox -> inbox.run("payments", message, tx -> pay(tx.connection(), "order-42")))
                .check();
    }
    // endregion

    private static void pay(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO payment VALUES (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }
}
