package dev.idem.examples.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.examples.support.Shop;
import dev.idem.jdbc.JdbcStore;
import dev.idem.kafka.KafkaDeadLetters;
import dev.idem.kafka.KafkaInbox;
import dev.idem.kafka.KafkaInboxListener;
import dev.idem.servers.KafkaServer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Three orders are sent, one of them three times; each is billed once. An order that cannot be billed goes to the dead
 * letters. Give the address of a Kafka of yours as argument, or let it start one.
 */
public final class Main {
    private static final List<String> SENT = List.of("order-1", "order-2", "order-1", "broken", "order-3", "order-1");

    private Main() {}

    public static void main(String[] args) throws Exception {
        DataSource database = Shop.database();
        if (args.length > 0) {
            tell(args[0], database, System.out);
            return;
        }
        try (KafkaServer server = KafkaServer.start()) {
            tell(server.address(), database, System.out);
        }
    }

    static void tell(String address, DataSource database, PrintStream out) throws Exception {
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
            send(address);
            out.println("Sent: " + SENT);
            try (KafkaInboxListener listener = KafkaInbox.listen(
                    Map.of("bootstrap.servers", address, "group.id", "billing"), List.of("orders"), billing, inbox)) {
                while (bills(database).size() < 3 || letters(address).isEmpty()) {
                    Thread.sleep(50);
                }
            }
            out.println("Billed: " + bills(database));
            out.println("Dead letters: " + letters(address));
        }
    }

    private static void send(String address) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", address);
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1)))
                    .all()
                    .get();
        }
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (String order : SENT) {
                var record = new ProducerRecord<>("orders", order, "{}");
                record.headers().add("ce_id", order.getBytes(StandardCharsets.UTF_8));
                producer.send(record).get();
            }
        }
    }

    private static List<String> letters(String address) {
        try (DeadLetters letters = KafkaDeadLetters.open(Map.of("bootstrap.servers", address), "orders.dead-letters")) {
            return Shop.read(letters);
        }
    }

    private static List<String> bills(DataSource database) throws SQLException {
        return Shop.select(database, "SELECT order_id FROM bill ORDER BY order_id");
    }
}
