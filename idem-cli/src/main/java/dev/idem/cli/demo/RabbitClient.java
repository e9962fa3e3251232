package dev.idem.cli.demo;

import static java.util.Objects.requireNonNull;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.rabbitmq.RabbitInbox;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Takes the messages of a queue. */
record RabbitClient(Place place) implements BrokerClient {
    private static final int PREFETCH = 50;
    private static final long ENDING_SECONDS = 10;

    static ConnectionFactory factory(Place place) {
        String[] address = place.address().split(":", -1);
        var factory = new ConnectionFactory();
        factory.setHost(address[0]);
        factory.setPort(Integer.parseInt(address[1]));
        return factory;
    }

    /** What comes again waits unacknowledged in the listener, so that the queue is empty when all is done. */
    @Override
    public AutoCloseable listen(Consumer consumer, Inbox inbox) {
        return RabbitInbox.builder(factory(place), place.name(), consumer, inbox)
                .parallelism(ConsumerMain.WORKERS)
                .prefetch(PREFETCH)
                .keepOrder()
                .listen();
    }

    /** Each thread acknowledges what it has charged. */
    @Override
    public AutoCloseable loop(ByHand byHand) throws IOException, TimeoutException {
        Connection connection = factory(place).newConnection();
        Channel channel = connection.createChannel();
        channel.basicQos(PREFETCH);
        ExecutorService workers = Executors.newFixedThreadPool(ConsumerMain.WORKERS);
        channel.basicConsume(
                place.name(),
                false,
                (tag, message) -> workers.execute(() -> take(byHand, channel, message)),
                tag -> {});
        return () -> {
            workers.shutdown();
            workers.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS);
            connection.close();
        };
    }

    private static void take(ByHand byHand, Channel channel, com.rabbitmq.client.Delivery message) {
        Object knobs = requireNonNull(message.getProperties().getHeaders().get(Delivery.KNOBS));
        String id = message.getProperties().getMessageId();
        boolean done = byHand.take(Delivery.of(knobs.toString(), id, message.getBody()));
        long tag = message.getEnvelope().getDeliveryTag();
        try {
            synchronized (channel) {
                if (done) {
                    channel.basicAck(tag, false);
                } else {
                    channel.basicNack(tag, false, true);
                }
            }
        } catch (IOException gone) {
            throw new IllegalStateException(gone); // ends the process, which is started again
        }
    }
}
