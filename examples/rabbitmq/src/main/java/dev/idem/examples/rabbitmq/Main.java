package dev.idem.examples.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.ListenerState;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import dev.idem.rabbitmq.RabbitDeadLetters;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitInboxListener;
import dev.idem.servers.RabbitServer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/**
 * Three orders are sent, one of them three times; each is billed once. An order that cannot be billed goes to the dead
 * letters. Give the URI of a RabbitMQ of yours as argument, or let it start one that is installed.
 */
public final class Main {
    private static final List<String> SENT = List.of("order-1", "order-2", "order-1", "broken", "order-3", "order-1");

    private Main() {}

    public static void main(String[] args) throws Exception {
        DataSource database = Shop.database();
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
        Shop.execute(database, "CREATE TABLE bill (order_id VARCHAR(20))");
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
            try (RabbitInboxListener listener = RabbitInbox.listen(factory, "orders", billing, inbox)) {
                while (listener.state() != ListenerState.RUNNING) { // then the queue of the letters is there too
                    Thread.sleep(50);
                }
                while (bills(database).size() < 3 || letters(factory).isEmpty()) {
                    Thread.sleep(50);
                }
            }
            out.println("Billed: " + bills(database));
            out.println("Dead letters: " + letters(factory));
        }
    }

    private static void send(ConnectionFactory factory) throws Exception {
        try (Connection connection = factory.newConnection();
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
            return Shop.read(letters);
        }
    }

    private static List<String> bills(DataSource database) throws SQLException {
        return Shop.select(database, "SELECT order_id FROM bill ORDER BY order_id");
    }
}
