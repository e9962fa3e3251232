package dev.idem.torture;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.idem.Message;
import dev.idem.servers.RabbitServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A RabbitMQ broker with a durable queue. */
final class RabbitBroker implements BrokerServer {
    /** Dead letters are published to it. */
    static final String LETTERS_EXCHANGE = "torture-letters";

    private static final int PERSISTENT = 2;
    private static final long CONFIRM_MILLIS = 10_000;
    private static final long AGAIN_MILLIS = 100;
    private static final int ABORT_MILLIS = 1_000;

    private final RabbitServer server;
    private final boolean ordered;
    private final AtomicBoolean returned = new AtomicBoolean();
    private @Nullable Connection connection;
    private @Nullable Channel channel;

    private RabbitBroker(RabbitServer server, boolean ordered) {
        this.server = server;
        this.ordered = ordered;
    }

    static RabbitBroker start(boolean ordered) throws Exception {
        RabbitBroker broker = new RabbitBroker(RabbitServer.start(), ordered);
        Channel channel = broker.channel();
        channel.queueDeclare(NAME, true, false, false, Map.of());
        channel.queueDeclare(LETTERS, true, false, false, Map.of());
        channel.exchangeDeclare(LETTERS_EXCHANGE, "fanout", true);
        channel.queueBind(LETTERS, LETTERS_EXCHANGE, "");
        return broker;
    }

    @Override
    public boolean hasLetters() {
        return true;
    }

    /** While the queue is not bound, letters have nowhere to go. */
    @Override
    public void letters(boolean welcome) throws Exception {
        try (Connection own = factory(address()).newConnection();
                Channel asking = own.createChannel()) {
            if (welcome) {
                asking.queueBind(LETTERS, LETTERS_EXCHANGE, "");
            } else {
                asking.queueUnbind(LETTERS, LETTERS_EXCHANGE, "");
            }
        }
    }

    /** Looks at them; when the connection is closed, they are back in their places. */
    @Override
    public List<Item> letters() throws Exception {
        List<Item> letters = new ArrayList<>();
        try (Connection own = factory(address()).newConnection();
                Channel reading = own.createChannel()) {
            GetResponse letter = reading.basicGet(LETTERS, false);
            while (letter != null) {
                letters.add(Item.parse(letter.getBody()));
                letter = reading.basicGet(LETTERS, false);
            }
        }
        return letters;
    }

    /** To an address as {@link #address} gives it. */
    static ConnectionFactory factory(String address) {
        int colon = address.lastIndexOf(':');
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(address.substring(0, colon));
        factory.setPort(Integer.parseInt(address.substring(colon + 1)));
        return factory;
    }

    @Override
    public String address() {
        return server.host() + ":" + server.port();
    }

    @Override
    public int lanes() {
        return 1;
    }

    /** A new quorum queue, as retries wait in, may not survive a kill in its first seconds. */
    @Override
    public Duration youth() {
        return Duration.ofSeconds(5);
    }

    /** What is sent again comes behind all that was sent with it; for the sake of order each is sent alone. */
    @Override
    public void publish(int lane, List<Message> messages) throws Exception {
        if (!ordered) {
            publish(messages);
            return;
        }
        for (Message message : messages) {
            publish(List.of(message));
        }
    }

    private void publish(List<Message> messages) throws InterruptedException {
        while (!isConfirmed(messages)) {
            Thread.sleep(AGAIN_MILLIS);
        }
    }

    private boolean isConfirmed(List<Message> messages) throws InterruptedException {
        try {
            Channel open = channel();
            returned.set(false);
            for (Message message : messages) {
                open.basicPublish("", NAME, true, properties(message), message.payload());
            }
            // What no queue has taken is returned first, and then confirmed like the others.
            return open.waitForConfirms(CONFIRM_MILLIS) && !returned.get();
        } catch (IOException | TimeoutException | RuntimeException away) {
            disconnect();
            return false;
        }
    }

    private static BasicProperties properties(Message message) {
        Map<String, Object> headers = new HashMap<>();
        message.orderingKey().ifPresent(key -> headers.put("ordering-key", key));
        message.headers().forEach(header -> headers.put(header.name(), header.value()));
        return new BasicProperties.Builder()
                .messageId(message.id().orElseThrow())
                .deliveryMode(PERSISTENT)
                .headers(headers)
                .build();
    }

    private Channel channel() throws IOException, TimeoutException {
        Channel open = channel;
        if (open == null || !open.isOpen()) {
            disconnect();
            ConnectionFactory factory = factory(address());
            factory.setAutomaticRecoveryEnabled(false);
            connection = factory.newConnection();
            open = connection.createChannel();
            open.confirmSelect();
            open.addReturnListener(unroutable -> returned.set(true));
            channel = open;
        }
        return open;
    }

    private void disconnect() {
        channel = null;
        if (connection != null) {
            connection.abort(ABORT_MILLIS);
            connection = null;
        }
    }

    @Override
    public long unfinished() {
        return server.messages(NAME);
    }

    @Override
    public void killHard() {
        server.killHard();
    }

    @Override
    public void restart() {
        server.restart();
    }

    @Override
    public boolean closeConnections() {
        server.closeConnections();
        return true;
    }

    @Override
    public void close() {
        disconnect();
        server.close();
    }
}
