package dev.idem.examples.jms;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jms.JmsDeadLetters;
import dev.idem.jms.JmsInbox;
import dev.idem.jms.JmsInboxListener;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.io.PrintStream;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/**
 * Three orders are sent, one of them three times; each is billed once. An order that cannot be billed goes to the dead
 * letters. Give the URL of an Artemis of yours as argument, or let it start one in this process.
 */
public final class Main {
    private static final List<String> SENT = List.of("order-1", "order-2", "order-1", "broken", "order-3", "order-1");

    private Main() {}

    public static void main(String[] args) throws Exception {
        DataSource database = Shop.database();
        if (args.length > 0) {
            tell(new ActiveMQConnectionFactory(args[0]), database, System.out);
            return;
        }
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setConfiguration(new ConfigurationImpl()
                .setPersistenceEnabled(false)
                .setSecurityEnabled(false)
                .addAcceptorConfiguration("this process", "vm://0"));
        server.start();
        tell(new ActiveMQConnectionFactory("vm://0"), database, System.out);
        server.stop();
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
            try (JmsInboxListener listener = JmsInbox.listen(factory, "orders", billing, inbox)) {
                while (bills(database).size() < 3 || letters(factory).isEmpty()) {
                    Thread.sleep(50);
                }
            }
            out.println("Billed: " + bills(database));
            out.println("Dead letters: " + letters(factory));
        }
    }

    private static void send(ConnectionFactory factory) throws Exception {
        try (Connection connection = factory.createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = session.createProducer(session.createQueue("orders"))) {
            for (String order : SENT) {
                TextMessage message = session.createTextMessage("{}");
                message.setStringProperty("messageId", order);
                producer.send(message);
            }
        }
    }

    private static List<String> letters(ConnectionFactory factory) {
        try (DeadLetters letters = JmsDeadLetters.open(factory, "orders.dead-letters")) {
            return Shop.read(letters);
        }
    }

    private static List<String> bills(DataSource database) throws SQLException {
        return Shop.select(database, "SELECT order_id FROM bill ORDER BY order_id");
    }
}
