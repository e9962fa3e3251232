package dev.idem.jms;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.spi.ListenerOptions;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Message;

/** Everything a listener was told. */
record JmsOptions(
        ConnectionFactory factory,
        String queue,
        String deadLetters,
        Consumer consumer,
        Inbox inbox,
        ListenerOptions<Message> common,
        Acknowledging acknowledging,
        int batch,
        boolean keepsOrder,
        boolean idOfBroker) {

    /** What threads and log lines are named by. */
    String name() {
        return "idem-jms-" + queue;
    }
}
