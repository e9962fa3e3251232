package dev.idem.bench.contender;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Takes what the broker has sent ahead, processes it, and acknowledges each message when its payment is committed. */
final class RabbitLoop implements Broker.Taking {
    private static final long WAIT_MILLIS = 100;

    private final Connection connection;
    private final Channel channel;
    private final Contender contender;
    private final Meter meter;
    private final BlockingQueue<com.rabbitmq.client.Delivery> arrived = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "rabbit-loop");
    private volatile boolean ending;

    private RabbitLoop(Connection connection, Channel channel, Contender contender, Meter meter) {
        this.connection = connection;
        this.channel = channel;
        this.contender = contender;
        this.meter = meter;
    }

    static RabbitLoop start(ConnectionFactory factory, String queue, Contender contender, Meter meter)
            throws IOException, TimeoutException {
        Connection connection = factory.newConnection();
        Channel channel = connection.createChannel();
        channel.basicQos(RabbitBroker.PREFETCH);
        var loop = new RabbitLoop(connection, channel, contender, meter);
        loop.thread.start();
        channel.basicConsume(queue, false, (tag, delivery) -> loop.arrived.add(delivery), tag -> {});
        return loop;
    }

    private void run() {
        try {
            int most = Math.min(RabbitBroker.PREFETCH, contender.mostTogether());
            while (!ending) {
                var first = arrived.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS);
                if (first != null) {
                    meter.handling();
                    List<com.rabbitmq.client.Delivery> batch = new ArrayList<>(most);
                    batch.add(first);
                    arrived.drainTo(batch, most - 1);
                    process(batch);
                    meter.handled(batch.size());
                }
            }
        } catch (Exception failure) {
            meter.failed(failure);
        }
    }

    private void process(List<com.rabbitmq.client.Delivery> batch) throws Exception {
        contender.handle(batch.stream().map(RabbitLoop::delivery).toList());
        for (var delivery : batch) {
            channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
        }
    }

    private static Delivery delivery(com.rabbitmq.client.Delivery delivery) {
        return Delivery.of(
                delivery.getProperties().getMessageId(),
                delivery.getBody(),
                0,
                delivery.getEnvelope().getDeliveryTag());
    }

    @Override
    public void close() throws InterruptedException, IOException {
        ending = true;
        thread.join();
        connection.close();
    }
}
