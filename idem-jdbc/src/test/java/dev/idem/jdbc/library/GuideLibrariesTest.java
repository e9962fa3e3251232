package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import dev.idem.test.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.jdbi.v3.core.Jdbi;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The second half of the guide's snippets: data libraries, joining, production and unit tests. */
class GuideLibrariesTest {
    private final Bench bench = new Bench(Database.H2);
    private final JdbcStore store = bench.store();
    private final Inbox inbox = bench.inbox();
    private final Message message = Message.of("event-1", "order-42".getBytes(StandardCharsets.UTF_8));

    @AfterEach
    void close() {
        assertThat(bench.payments()).isLessThanOrEqualTo(1);
        bench.close();
    }

    @Test
    void jooq() {
        // region jooq
        DSLContext dsl = DSL.using(store.dataSource(), SQLDialect.H2); // once, at start

        Outcome<?> outcome = inbox.run(
                "payments",
                message,
                tx -> dsl.insertInto(table("payment"), field("order_id"))
                        .values("order-42")
                        .execute());
        // endregion
        assertThat(bench.payments()).isEqualTo(1);
    }

    @Test
    void jdbi() {
        // region jdbi
        Jdbi jdbi = Jdbi.create(store.dataSource()); // once, at start

        Outcome<?> outcome = inbox.run(
                "payments",
                message,
                tx -> jdbi.useTransaction(handle -> handle.execute("INSERT INTO payment VALUES (?)", "order-42")));
        // endregion
        assertThat(bench.payments()).isEqualTo(1);
    }

    @Test
    void hibernate() {
        // region hibernate
        Configuration configuration = new Configuration().addAnnotatedClass(Payment.class);
        configuration.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, store.dataSource());
        SessionFactory sessions = configuration.buildSessionFactory(); // once, at start

        Outcome<?> outcome = inbox.run(
                "payments", message, tx -> sessions.inTransaction(session -> session.persist(new Payment("order-42"))));
        // endregion
        assertThat(bench.payments()).isEqualTo(1);
        sessions.close();
    }

    @Test
    void join() throws Exception {
        DataSource dataSource = bench.pool();
        List<Message> acknowledged = new ArrayList<>();
        inbox.register(Consumer.of("payments"));
        // region join
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Provisional<?> answer = inbox.within(connection).process("payments", message, tx -> pay(tx.connection()));
            answer.confirm(); // the last thing before the commit
            connection.commit();
            acknowledged.add(message); // only now is it true
        }
        // endregion
        assertThat(acknowledged).hasSize(1);
        assertThat(bench.payments()).isEqualTo(1);
    }

    private static int pay(Connection connection) throws Exception {
        try (var statement = connection.createStatement()) {
            return statement.executeUpdate("INSERT INTO payment VALUES ('order-42')");
        }
    }

    @Test
    void production() {
        String url = Bench.freshUrl(Database.H2);
        JdbcDataSource migration = new JdbcDataSource();
        migration.setURL(url);
        JdbcSchema.of(migration).apply();
        // region hikari
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(10); // as many as handlers run at once
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED"); // MariaDB's own default is another one
        DataSource pool = new HikariDataSource(config);

        JdbcStore store = JdbcStore.builder(pool)
                .schema("public") // default: the schema the connections are in
                .prefix("idem_") // of the tables
                .schemaMode(SchemaMode.VALIDATE) // the tables come from a migration
                .strict(true) // warnings, such as fsync off, refuse the start too
                .build();
        Inbox inbox = Inbox.builder(store).concurrency(10).build(); // the pool's size
        // endregion
        inbox.close();
        ((HikariDataSource) pool).close();
    }

    @Test
    void unitTest() {
        List<String> sent = new ArrayList<>();
        // region unit-test
        MemoryStore memory = new MemoryStore();
        try (Inbox inbox = Inbox.create(memory)) {
            Outcome<?> first = inbox.run("mailer", message, tx -> sent.add("mail for order-42"));
            Outcome<?> second = inbox.run("mailer", message, tx -> sent.add("mail for order-42"));

            assertThat(second).isInstanceOf(Outcome.Duplicate.class);
            assertThat(sent).containsExactly("mail for order-42");
            assertThat(memory.contains("mailer", "event-1")).isTrue();
        }
        // endregion
    }
}
