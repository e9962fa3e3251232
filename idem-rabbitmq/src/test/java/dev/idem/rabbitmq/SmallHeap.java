package dev.idem.rabbitmq;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.test.MemoryStore;
import java.util.concurrent.atomic.AtomicInteger;

/** A listener in a JVM of its own, that tells when it has handled so many messages. */
final class SmallHeap {
    private SmallHeap() {}

    public static void main(String[] arguments) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(Integer.parseInt(arguments[0]));
        int wanted = Integer.parseInt(arguments[2]);
        AtomicInteger handled = new AtomicInteger();
        Consumer consumer = Consumer.named("large")
                .otherwise((message, tx) -> {
                    Thread.sleep(message.payload().length > 1_000 ? 20 : 0);
                    System.out.println("handled " + handled.incrementAndGet());
                    return null;
                })
                .build();
        try (Inbox inbox = Inbox.create(new MemoryStore());
                RabbitInboxListener listener = RabbitInbox.builder(factory, arguments[1], consumer, inbox)
                        .keepOrder()
                        .listen()) {
            while (handled.get() < wanted) {
                Thread.sleep(100);
                if (arguments.length > 3) {
                    System.out.println("prefetch " + listener.status().prefetch());
                }
            }
        }
    }
}
