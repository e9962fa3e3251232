package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.jdbc.JdbcStore;
import dev.idem.test.IdempotencyTest;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
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

    // region library-test
    @Test
    void bookedOnce() {
        idem.deliver(JdbcStore.class, store -> bookings(DSL.using(store.dataSource(), SQLDialect.H2)), message)
                .check();
    }

    private static Consumer bookings(DSLContext dsl) {
        return Consumer.named("bookings")
                .otherwise((order, tx) -> dsl.insertInto(table("payment"), field("order_id"))
                        .values("order-42")
                        .execute())
                .build();
    }
    // endregion

    @Test
    void aLibraryOnAnotherDataSourceIsFound() {
        assertThatThrownBy(() -> idem.deliver(
                                JdbcStore.class, store -> bookings(DSL.using(dataSource, SQLDialect.H2)), message)
                        .crashingEverywhere()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void successSaysHowManyScenariosRan() {
        PrintStream before = System.out;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            idem.deliver(inbox -> inbox.run("payments", message, tx -> pay(tx.connection(), "order-42")))
                    .twice()
                    .matchesOneCleanDelivery();
        } finally {
            System.setOut(before);
        }
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("Idempotent: 2 scenarios end like one clean delivery");
    }

    private static void pay(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO payment VALUES (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }
}
