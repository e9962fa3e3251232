package dev.idem.torture;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;

/**
 * A planted defect: a consumer written by hand that lets the broker forget what it has delivered. What is not done yet is
 * lost with the process.
 */
final class AutoAck {
    private static final int ABORT_MILLIS = 1_000;

    private AutoAck() {}

    static Listening listen(ConnectionFactory factory, Consumer consumer, Inbox inbox) {
        ExecutorService lane = Executors.newSingleThreadExecutor();
        try {
            Connection connection = factory.newConnection(); // which recovers by itself, and its subscription with it
            Channel channel = connection.createChannel();
            channel.basicConsume(
                    BrokerServer.NAME,
                    true,
                    (tag, delivery) -> lane.execute(() -> ToldInbox.untilDone(
                            inbox, consumer, Item.parse(delivery.getBody()).toMessage())),
                    tag -> {});
            return Listening.of(channel::isOpen, () -> {
                connection.abort(ABORT_MILLIS);
                lane.shutdownNow();
            });
        } catch (IOException away) {
            lane.shutdownNow();
            throw new UncheckedIOException(away);
        } catch (TimeoutException away) {
            lane.shutdownNow();
            throw new IllegalStateException(away);
        }
    }
}
