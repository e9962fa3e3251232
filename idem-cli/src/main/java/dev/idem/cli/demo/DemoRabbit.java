package dev.idem.cli.demo;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.servers.RabbitServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/** A RabbitMQ with a durable queue for each consumer. */
final class DemoRabbit implements DemoBroker {
    private static final int PERSISTENT = 2;
    private static final Duration CONFIRM_LIMIT = Duration.ofMinutes(1);

    private final RabbitServer server;

    private DemoRabbit(RabbitServer server) {
        this.server = server;
    }

    static DemoRabbit start() {
        return new DemoRabbit(RabbitServer.start());
    }

    @Override
    public Place publish(String name, DemoPlan plan) throws IOException, TimeoutException, InterruptedException {
        List<Delivery> deliveries = DemoBroker.deliveries(plan);
        var place = new Place(Kind.RABBITMQ, server.host() + ":" + server.port(), name, deliveries.size());
        ConnectionFactory factory = RabbitClient.factory(place);
        try (Connection connection = factory.newConnection();
                Channel channel = connection.createChannel()) {
            channel.queueDeclare(name, true, false, false, Map.of());
            channel.confirmSelect();
            for (Delivery delivery : deliveries) {
                channel.basicPublish("", name, properties(delivery), delivery.payload());
            }
            channel.waitForConfirmsOrDie(CONFIRM_LIMIT.toMillis());
        }
        return place;
    }

    private static BasicProperties properties(Delivery delivery) {
        return new BasicProperties.Builder()
                .messageId(delivery.payment().id())
                .type(Delivery.TYPE)
                .deliveryMode(PERSISTENT)
                .headers(Map.of(Delivery.KNOBS, delivery.knobs()))
                .build();
    }

    @Override
    public long left(Place place) {
        return server.messages(place.name());
    }

    @Override
    public void close() {
        server.close();
    }
}
