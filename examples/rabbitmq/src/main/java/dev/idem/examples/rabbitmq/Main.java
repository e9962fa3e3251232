package dev.idem.examples.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.jdbc.JdbcStore;
import dev.idem.rabbitmq.RabbitDeadLetters;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitListener;
import dev.idem.servers.RabbitServer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/**
 * Three orders are sent, one of them three times; each is billed once. An order that cannot be billed goes to the dead
 * letters. Give the URI of a RabbitMQ of yours as argument, or let it start one that is installed.
 */
public final class Main {
    private static final List<String> SENT = List.of("order-1", "order-2", "order-1", "broken", "order-3", "order-1");

    private Main() {}

    public static void main(String[] args) throws Exception {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        ConnectionFactory factory = new ConnectionFactory();
        if (args.length > 0) {
            factory.setUri(args[0]);
            tell(factory, database, System.out);
            return;
        }
        try (RabbitServer server = RabbitServer.start()) {
            factory.setHost(server.host());
            factory.setPort(server.port());
            tell(factory, database, System.out);
        }
    }

    static void tell(ConnectionFactory factory, DataSource database, PrintStream out) throws Exception {
        execute(database, "CREATE TABLE bill (order_id VARCHAR(20))");
        Consumer billing = Consumer.named("billing")
                .otherwise((message, tx) -> {
                    String order = message.id().orElseThrow();
                    if (order.equals("broken")) {
                        throw new TerminalException("this order cannot be billed", null);
                    }
                    try (PreparedStatement insert = tx.connection().prepareStatement("INSERT INTO bill VALUES (?)")) {
                        insert.setString(1, order);
                        return insert.executeUpdate();
                    }
                })
                .build();
        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            send(factory);
            out.println("Sent: " + SENT);
            try (RabbitListener listener = RabbitInbox.listen(factory, "orders", billing, inbox)) {
                while (bills(database).size() < 3 || letters(factory).isEmpty()) {
                    Thread.sleep(50);
                }
            }
            out.println("Billed: " + bills(database));
            out.println("Dead letters: " + letters(factory));
        }
    }

    private static void send(ConnectionFactory factory) throws Exception {
        try (com.rabbitmq.client.Connection connection = factory.newConnection();
                Channel channel = connection.createChannel()) {
            channel.queueDeclare("orders", true, false, false, null);
            channel.confirmSelect();
            for (String order : SENT) {
                var properties = new AMQP.BasicProperties.Builder()
                        .messageId(order)
                        .deliveryMode(2)
                        .build();
                channel.basicPublish("", "orders", true, properties, "{}".getBytes(StandardCharsets.UTF_8));
            }
            channel.waitForConfirmsOrDie(10_000);
        }
    }

    private static List<String> letters(ConnectionFactory factory) {
        try (DeadLetters letters = RabbitDeadLetters.open(factory, "orders.dead-letters")) {
            return ids(letters);
        }
    }

    private static List<String> bills(DataSource database) throws SQLException {
        List<String> orders = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement select = connection.createStatement();
                ResultSet rows = select.executeQuery("SELECT order_id FROM bill ORDER BY order_id")) {
            while (rows.next()) {
                orders.add(rows.getString(1));
            }
        }
        return orders;
    }

    private static List<String> ids(DeadLetters letters) {
        List<String> ids = new ArrayList<>();
        for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
            ids.add(next.get().message().id().orElseThrow() + ", "
                    + next.get().about().reason());
        }
        return ids;
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
