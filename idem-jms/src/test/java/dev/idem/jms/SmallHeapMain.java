package dev.idem.jms;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import jakarta.jms.ConnectionFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.activemq.artemis.jms.client.ActiveMQJMSConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;

/** A service with a small heap, whose handlers begin only when the listener receives nothing more. */
final class SmallHeapMain {
    static final String FULL = "full with ";
    static final String DONE = "done with ";

    private SmallHeapMain() {}

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        ConnectionFactory factory =
                url.startsWith("amqp") ? new JmsConnectionFactory(url) : new ActiveMQJMSConnectionFactory(url);
        int messages = Integer.parseInt(arguments[3]);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[2]);
        config.setMaximumPoolSize(2);
        CountDownLatch begin = new CountDownLatch(1);
        AtomicInteger handled = new AtomicInteger();
        Consumer consumer = Consumer.named("small")
                .otherwise((message, tx) -> {
                    begin.await();
                    tx.nothingToDo();
                    return handled.incrementAndGet();
                })
                .build();
        try (HikariDataSource pool = new HikariDataSource(config);
                Inbox inbox = Inbox.create(
                        JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build());
                JmsInboxListener listener = JmsInbox.builder(factory, arguments[1], consumer, inbox)
                        .acknowledging(url.startsWith("amqp") ? Acknowledging.INDIVIDUAL : Acknowledging.TRANSACTED)
                        .listen()) {
            long before = -1;
            while (before <= 0 || before != listener.pendingBytes()) {
                before = listener.pendingBytes();
                Thread.sleep(1_500); // longer than it takes to receive a further batch
            }
            System.out.println(FULL + before);
            begin.countDown();
            while (handled.get() < messages || listener.pending() > 0) {
                Thread.sleep(50);
            }
            System.out.println(DONE + handled.get() + " " + listener.state());
        }
    }
}
