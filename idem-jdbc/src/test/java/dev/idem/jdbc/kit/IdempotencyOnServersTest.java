package dev.idem.jdbc.kit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.DatabaseServer;
import dev.idem.servers.MariaDbServer;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.IdempotencyTest;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The kit finds tables, empties and compares them on real servers as well. */
@Tag("second-pass")
@ExtendWith(SkipWithoutServer.class)
class IdempotencyOnServersTest {
    private static final Message MESSAGE = Message.builder()
            .id("m-1")
            .type("order-placed")
            .payload("order-1".getBytes(StandardCharsets.UTF_8))
            .build();

    @Test
    void onPostgreSql() {
        PostgresServer server = PostgresServer.shared();
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url(server));
        check(
                dataSource,
                "create table payment (id bigserial primary key, order_id text, document bytea, paid_at timestamptz"
                        + " default clock_timestamp())");
    }

    @Test
    void onMariaDb() throws SQLException {
        MariaDbServer server = MariaDbServer.shared();
        check(
                new MariaDbDataSource(url(server)),
                "create table payment (id bigint auto_increment primary key, order_id varchar(40), document blob,"
                        + " paid_at timestamp(6) default current_timestamp(6))");
    }

    private static String url(DatabaseServer server) {
        return server.jdbcUrl(server.createDatabase());
    }

    private static void check(DataSource dataSource, String payment) {
        IdempotencyTest idem = IdempotencyTest.on(dataSource)
                .store(JdbcStore::create) // which would refuse a server without tables anywhere but in the kit
                .schema(
                        payment,
                        "create table line (payment_id bigint not null, text varchar(40),"
                                + " foreign key (payment_id) references payment (id))")
                .ignoringColumns("payment.paid_at");

        idem.deliver(
                        consumer((order, tx) -> {
                            pay(tx.connection(), order);
                            return null;
                        }),
                        MESSAGE)
                .check();

        assertThatThrownBy(() -> idem.deliver(
                                consumer((order, tx) -> {
                                    tx.nothingToDo(); // which is not true
                                    try (Connection own = dataSource.getConnection()) {
                                        pay(own, order);
                                    }
                                    return null;
                                }),
                                MESSAGE)
                        .crashingEverywhere()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("crash BEFORE_COMMIT of message 1")
                .hasMessageContaining("table payment: 0 row(s) missing, 1 too many")
                .hasMessageContaining("order_id=order-1, document=0x0102");
    }

    private static Consumer consumer(Handler<String, ?> handler) {
        return Consumer.named("payments")
                .on("order-placed", PayloadDecoder.text(), handler)
                .build();
    }

    private static void pay(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into payment (order_id, document) values (?, ?)")) {
            insert.setString(1, order);
            insert.setBytes(2, new byte[] {1, 2});
            insert.executeUpdate();
        }
        try (PreparedStatement insert =
                connection.prepareStatement("insert into line select max(id), 'a line' from payment")) {
            insert.executeUpdate();
        }
    }
}
