package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.ListenerBuilder;
import dev.idem.broker.MessageReader;
import dev.idem.broker.Triage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The parts, for those who have a listener of their own. */
class JmsLoopTest extends JmsScene {
    @Test
    @DisplayName("a loop of one's own: done once, tried again, or moved to the letters")
    void aBareLoop() throws Exception {
        AtomicInteger failures = new AtomicInteger();
        send(text("m1", "k"), text("m1", "k"), text("bad", "k"), text("again", "k"));
        Consumer billing = consumer(id -> {
            if (id.equals("bad")) {
                throw new TerminalException("bad", null);
            }
            if (id.equals("again") && failures.incrementAndGet() == 1) {
                throw new IllegalStateException("once");
            }
        });
        ConnectionFactory factory = artemis.core();
        // region jms-loop
        MessageReader<Message> reader = JmsMessages.reader();
        Triage triage = new Triage(billing, ListenerBuilder.DEFAULT_RETRY);
        try (Connection connection = factory.createConnection();
                Session session = connection.createSession(Session.SESSION_TRANSACTED);
                MessageConsumer orders = session.createConsumer(session.createQueue(queue));
                MessageProducer letters = session.createProducer(session.createQueue(queue + ".failed"))) {
            connection.start();
            for (Message next = orders.receive(1_000); next != null; next = orders.receive(1_000)) {
                Optional<DeadLetter> letter = triage.untilDecided(inbox, reader.read(next));
                if (letter.isPresent()) {
                    letters.send(next); // in the same transaction
                }
                session.commit();
            }
        }
        // endregion
        assertThat(handled).containsExactly("m1", "again");
        assertThat(artemis.messages(queue + ".failed")).isEqualTo(1);
        assertThat(artemis.messages(queue)).isZero();
    }
}
