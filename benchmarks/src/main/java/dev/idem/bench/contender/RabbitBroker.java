package dev.idem.bench.contender;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitInboxListener;
import dev.idem.servers.RabbitServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeoutException;

/** A RabbitMQ with one durable queue of persistent messages, filled anew for each measurement. */
public final class RabbitBroker implements Broker {
    /** What the broker may send ahead: the listener's default, for all. */
    static final int PREFETCH = 250;

    private static final String QUEUE = "payments";
    private static final int CENTS = 4_200;
    private static final int CONFIRMED_TOGETHER = 2_000;
    private static final Duration CONFIRM_LIMIT = Duration.ofMinutes(1);
    private static final int PERSISTENT = 2;

    private final RabbitServer server;
    private final ConnectionFactory factory = new ConnectionFactory();

    private RabbitBroker(RabbitServer server) {
        this.server = server;
        factory.setHost(server.host());
        factory.setPort(server.port());
    }

    /**
     * Starts one.
     *
     * @throws dev.idem.servers.ServerUnavailable if RabbitMQ is not installed, naming the package
     */
    public static RabbitBroker start() {
        return new RabbitBroker(RabbitServer.start());
    }

    @Override
    public void fill(int messages) throws IOException, TimeoutException, InterruptedException {
        try (Connection connection = factory.newConnection();
                Channel channel = connection.createChannel()) {
            channel.queueDeclare(QUEUE, true, false, false, Map.of());
            channel.queuePurge(QUEUE);
            channel.confirmSelect();
            for (int i = 0; i < messages; i++) {
                var request = new PaymentRequest("0-" + i, CENTS, false);
                channel.basicPublish("", QUEUE, properties(), request.payload());
                if (i % CONFIRMED_TOGETHER == 0) {
                    channel.waitForConfirmsOrDie(CONFIRM_LIMIT.toMillis());
                }
            }
            channel.waitForConfirmsOrDie(CONFIRM_LIMIT.toMillis());
        }
    }

    private static BasicProperties properties() {
        return new BasicProperties.Builder()
                .messageId(UUID.randomUUID().toString())
                .type(Delivery.TYPE)
                .deliveryMode(PERSISTENT)
                .build();
    }

    @Override
    public Taking loop(Contender contender, Meter meter) throws IOException, TimeoutException {
        return RabbitLoop.start(factory, QUEUE, contender, meter);
    }

    @Override
    public Taking listen(Consumer consumer, Inbox inbox) {
        RabbitInboxListener listener = RabbitInbox.listen(factory, QUEUE, consumer, inbox);
        return listener::close;
    }

    @Override
    public long left() {
        return server.messages(QUEUE);
    }

    @Override
    public void close() {
        server.close();
    }
}
