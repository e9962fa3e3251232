package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Wrapper;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The store's data source knows which thread has a transaction open, and nothing is processed beside it. */
class OpenTransactionTest {
    private static final Consumer PAYMENTS = Consumer.named("payments")
            .on("t", Message::payload, (event, tx) -> {
                Db.pay(tx.connection(), "accepted");
                return true;
            })
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 beside an open transaction of the store's data source every door is refused")
    void everyDoorIsRefused(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = db.store(db.pool(3));
                Inbox inbox = Inbox.create(store)) {
            Message message = Db.message("1").toBuilder().type("t").build();
            try (Connection outer = store.dataSource().getConnection()) {
                outer.setAutoCommit(false);
                assertThatThrownBy(() -> inbox.run("payments", message, tx -> Db.pay(outer, "lost")))
                        .isInstanceOf(NestedProcessingException.class)
                        .hasMessageContaining("a transaction is open on this thread; use inbox.within(");
                assertThatThrownBy(() -> inbox.accept(PAYMENTS, message)).isInstanceOf(NestedProcessingException.class);
                assertThatThrownBy(() -> inbox.acceptAll(PAYMENTS, List.of(message)))
                        .isInstanceOf(NestedProcessingException.class);
                inbox.within(outer).run("payments", message, tx -> Db.pay(outer, "joined"));
                outer.rollback();
            }
            assertThat(db.payments()).isZero();
            assertThat(inbox.accept(PAYMENTS, message)).isInstanceOf(Outcome.Processed.class);
        }
    }

    @Test
    @DisplayName("a transaction that has ended in any way does not stay with the thread")
    void whatHasEndedIsForgotten() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                JdbcStore store = db.store(db.pool(5));
                Inbox inbox = Inbox.create(store)) {
            DataSource source = store.dataSource();
            try (Connection connection = source.getConnection()) {
                assertThat(isRefused(inbox)).as("autocommit").isFalse();
                connection.setAutoCommit(false);
                assertThat(isRefused(inbox)).as("begun").isTrue();
                connection.commit();
                assertThat(isRefused(inbox)).as("committed").isFalse();
                Db.pay(connection, "1");
                assertThat(isRefused(inbox)).as("begun again").isTrue();
                connection.rollback(connection.setSavepoint());
                assertThat(isRefused(inbox)).as("to a savepoint").isTrue();
                connection.rollback();
                assertThat(isRefused(inbox)).as("rolled back").isFalse();
                try (PreparedStatement again =
                        connection.prepareStatement("INSERT INTO payment (order_id) VALUES ('again')")) {
                    assertThat(again.getConnection()).isSameAs(connection);
                    again.executeUpdate();
                    connection.commit();
                    assertThat(isRefused(inbox)).as("executed and committed").isFalse();
                    again.executeUpdate();
                    assertThat(isRefused(inbox)).as("executed again").isTrue();
                    connection.rollback();
                }
                Db.pay(connection, "2");
                connection.setAutoCommit(true);
                assertThat(isRefused(inbox)).as("switched").isFalse();
                connection.setAutoCommit(false);
            }
            assertThat(isRefused(inbox)).as("closed").isFalse();

            Connection elsewhere = begun(source);
            assertThat(isRefused(inbox)).isTrue();
            Together.get(Together.start(() -> {
                elsewhere.close();
                return true;
            }));
            assertThat(isRefused(inbox)).as("closed on another thread").isFalse();

            Connection handedOver = begun(source);
            assertThat(Together.<Boolean>get(Together.start(() -> {
                        Db.pay(handedOver, "3");
                        return isRefused(inbox);
                    })))
                    .as("it belongs to the thread that used it last")
                    .isTrue();
            assertThat(isRefused(inbox)).as("and not to the one before").isFalse();
            handedOver.close();
        }
    }

    @Test
    @DisplayName(
            "a connection that its user has lost, or whose session is gone, does not speak for the thread for ever")
    void whatIsLostIsForgotten() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                JdbcStore store = db.store();
                Inbox inbox = Inbox.create(store)) {
            Connection gone = begun(store.dataSource());
            gone.unwrap(org.h2.jdbc.JdbcConnection.class).close();
            assertThat(isRefused(inbox)).isFalse();
            begun(store.dataSource());
            await().atMost(Duration.ofSeconds(30)).until(() -> {
                System.gc();
                return !isRefused(inbox);
            });
        }
    }

    @Test
    @DisplayName("a pool whose connections have autocommit off by default is watched too")
    void poolsWithoutAutocommit() throws Exception {
        try (Db db = Db.fresh(Database.H2)) {
            HikariConfig config = new HikariConfig();
            config.setDataSource(db.plain());
            config.setAutoCommit(false);
            try (HikariDataSource pool = new HikariDataSource(config);
                    JdbcStore store = db.store(pool);
                    Inbox inbox = Inbox.create(store)) {
                try (Connection connection = store.dataSource().getConnection()) {
                    assertThat(isRefused(inbox)).isTrue();
                    connection.rollback();
                }
                assertThat(isRefused(inbox)).isFalse();
            }
        }
    }

    @Test
    @DisplayName("outside of a handler the store's connections are the driver's own for whoever asks")
    void connectionsCanBeUnwrapped() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                JdbcStore store = db.store();
                Connection connection = store.dataSource().getConnection()) {
            Wrapper wrapper = connection;
            assertThat(wrapper.isWrapperFor(org.h2.jdbc.JdbcConnection.class)).isTrue();
            assertThat(wrapper.unwrap(org.h2.jdbc.JdbcConnection.class)).isNotNull();
            assertThat(wrapper.unwrap(Connection.class)).isSameAs(connection).isEqualTo(connection);
            assertThat(connection).hasSameHashCodeAs(connection).asString().contains("store's data source");
        }
    }

    private static Connection begun(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static boolean isRefused(Inbox inbox) {
        try {
            inbox.run("other", Db.message("any"), dev.idem.Transaction::nothingToDo);
            return false;
        } catch (NestedProcessingException refused) {
            return true;
        }
    }
}
