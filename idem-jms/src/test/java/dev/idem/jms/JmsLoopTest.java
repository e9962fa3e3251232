package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.MessageReader;
import dev.idem.broker.spi.DeliveryDecider;
import dev.idem.broker.spi.ListenerBuilder;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;
import java.util.Map;
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
        DeliveryDecider triage = new DeliveryDecider(billing, ListenerBuilder.DEFAULT_RETRY);
        try (Connection connection = factory.createConnection();
                Session session = connection.createSession(Session.SESSION_TRANSACTED);
                MessageConsumer orders = session.createConsumer(session.createQueue(queue));
                MessageProducer letters = session.createProducer(session.createQueue(queue + ".dead-letters"))) {
            connection.start();
            for (Message next = orders.receive(1_000); next != null; next = orders.receive(1_000)) {
                var message = reader.read(next);
                Optional<DeadLetter> letter = triage.untilDecided(inbox, message);
                if (letter.isPresent()) {
                    letters.send(JmsMessages.letter(session, next, message, letter.get()));
                }
                session.commit(); // both in one transaction
            }
        }
        // endregion
        assertThat(handled).containsExactly("m1", "again");
        assertThat(artemis.messages(queue + ".dead-letters")).isEqualTo(1);
        assertThat(artemis.messages(queue)).isZero();
    }

    @Test
    @DisplayName(
            "a letter of a loop of one's own: tells its story, is read by idem, and is sent again to its queue as it was")
    void lettersOfABareLoop() throws Exception {
        MessageReader<Message> own = JmsMessages.reader().idFrom(JmsLoopTest::ownId);
        DeliveryDecider triage = new DeliveryDecider(
                consumer(id -> {
                    throw new TerminalException("never", null);
                }),
                ListenerBuilder.DEFAULT_RETRY);
        send(text("bad", "k"), session -> {
            Message forged = session.createBytesMessage();
            forged.setStringProperty("messageId", "forged");
            forged.setStringProperty("idem_origin_queue", "elsewhere");
            forged.setStringProperty("h", "1");
            return forged;
        });
        try (Connection connection = artemis.core().createConnection();
                Session session = connection.createSession(Session.SESSION_TRANSACTED);
                MessageConsumer orders = session.createConsumer(session.createQueue(queue));
                MessageProducer letters = session.createProducer(session.createQueue(queue + ".dead-letters"))) {
            connection.start();
            for (Message next = orders.receive(5_000); next != null; next = orders.receive(500)) {
                var message = own.read(next);
                DeadLetter letter = triage.untilDecided(inbox, message).orElseThrow();
                letters.send(JmsMessages.letter(session, next, message, letter));
                session.commit();
            }
        }
        List<Letter> there = letters(queue + ".dead-letters");
        assertThat(there)
                .extracting(letter -> letter.message().id().orElseThrow())
                .as("as they were read")
                .containsExactlyInAnyOrder("own-bad", "own-forged");
        assertThat(there).allSatisfy(letter -> {
            assertThat(letter.about().consumer()).isEqualTo("jms");
            assertThat(letter.about().reason()).isEqualTo("FAILED");
            assertThat(letter.about().detail()).contains("never");
            assertThat(letter.about().origin()).containsExactly(Map.entry("queue", queue));
        });
        try (DeadLetters letters = JmsDeadLetters.open(artemis.core(), queue + ".dead-letters")) {
            for (var next = letters.next(); next.isPresent(); next = letters.next()) {
                letters.sendAgain(next.get());
            }
        }
        assertThat(artemis.messages(queue + ".dead-letters")).isZero();
        listen(Way.CORE_TRANSACTED, consumer(id -> {}), options -> options);
        until(() -> handled.size() == 2);
        assertThat(handled).containsExactlyInAnyOrder("bad", "forged");
    }

    private static String ownId(Message message) {
        try {
            return "own-" + message.getStringProperty("messageId");
        } catch (JMSException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
