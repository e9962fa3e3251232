package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.RabbitServer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/** A queue nobody else uses on the shared broker, and empty databases on the shared server. */
final class Bench implements AutoCloseable {
    final RabbitServer server = RabbitServer.shared();
    final String queue = "orders-" + UUID.randomUUID();
    final ConnectionFactory factory = factory(server);

    Bench() throws Exception {
        this(Map.of());
    }

    Bench(Map<String, Object> arguments) throws Exception {
        with(channel -> channel.queueDeclare(queue, true, false, false, arguments));
    }

    static ConnectionFactory factory(RabbitServer server) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(server.host());
        factory.setPort(server.port());
        return factory;
    }

    /** An empty database with the store's tables. */
    static HikariDataSource database() throws SQLException {
        PostgresServer server = PostgresServer.shared();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        config.setMaximumPoolSize(8);
        HikariDataSource pool = new HikariDataSource(config);
        execute(pool, JdbcSchema.script(Database.POSTGRESQL, null, JdbcSchema.DEFAULT_PREFIX));
        return pool;
    }

    static void execute(DataSource database, String sql) throws SQLException {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @FunctionalInterface
    interface Work {
        void on(Channel channel) throws Exception;
    }

    void with(Work work) throws Exception {
        Connection connection = factory.newConnection();
        try {
            work.on(connection.createChannel());
        } finally {
            connection.abort(5_000);
        }
    }

    /** Sends to the queue, and waits until the broker has it. */
    void send(BasicProperties properties, String payload) throws Exception {
        with(channel -> {
            channel.confirmSelect();
            channel.basicPublish("", queue, true, properties, payload.getBytes(StandardCharsets.UTF_8));
            channel.waitForConfirmsOrDie(30_000);
        });
    }

    void send(int from, int to) throws Exception {
        with(channel -> {
            channel.confirmSelect();
            for (int i = from; i < to; i++) {
                BasicProperties properties = id("m" + i).build();
                channel.basicPublish("", queue, true, properties, ("p" + i).getBytes(StandardCharsets.UTF_8));
            }
            channel.waitForConfirmsOrDie(30_000);
        });
    }

    static BasicProperties.Builder id(String id) {
        return new BasicProperties.Builder().messageId(id).deliveryMode(2);
    }

    long messages() {
        return server.messages(queue);
    }

    /** Also if the listener has not declared their queue yet. */
    RabbitDeadLetters deadLetters() {
        try {
            with(channel -> channel.queueDeclare(queue + ".dead-letters", true, false, false, null));
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
        return RabbitDeadLetters.open(factory, queue + ".dead-letters");
    }

    @Override
    public void close() throws Exception {
        with(channel -> {
            channel.queueDelete(queue);
            channel.queueDelete(queue + ".dead-letters");
            for (int millis : new int[] {200, 1_000, 5_000, 15_000, 60_000, 300_000}) {
                channel.queueDelete(queue + ".retry." + millis);
            }
        });
    }
}
