package dev.idem.jms;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.test.contract.BrokerUnderTest;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.jspecify.annotations.Nullable;

/** A queue of a real broker, through one of its clients. */
final class QueueUnderTest implements BrokerUnderTest {
    final String name = "q" + UUID.randomUUID().toString().replace("-", "");

    private String letters = ArtemisMain.REFUSING + name;
    private final Artemis artemis;
    private final ConnectionFactory factory;
    private final UnaryOperator<JmsInbox.Builder> options;
    private @Nullable Connection connection;
    private @Nullable Session session;

    QueueUnderTest(Artemis artemis, ConnectionFactory factory, UnaryOperator<JmsInbox.Builder> options) {
        this.artemis = artemis;
        this.factory = factory;
        this.options = options;
    }

    @Override
    public void send(Sent sent) throws JMSException {
        if (session == null) {
            connection = factory.createConnection();
            session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
        }
        BytesMessage message = session.createBytesMessage();
        message.writeBytes(sent.payload().getBytes(StandardCharsets.UTF_8));
        if (!sent.id().isEmpty()) {
            message.setStringProperty("messageId", sent.id());
        }
        message.setStringProperty("JMSXGroupID", sent.key());
        for (Header header : sent.headers()) {
            message.setStringProperty(Properties.nameHere(header.name()), header.text());
        }
        try (MessageProducer producer = session.createProducer(session.createQueue(name))) {
            producer.send(message);
        }
    }

    @Override
    public Listening listen(Consumer consumer, Inbox inbox, RetryPolicy retry) {
        JmsInboxListener listener = builder(name, consumer, inbox).retry(retry).listen();
        return new Listening() {
            @Override
            public ListenerState state() {
                return listener.state();
            }

            @Override
            public void close(Duration longest) {
                listener.close(longest);
            }
        };
    }

    @Override
    public Listener listen(Consumer consumer, Inbox inbox, Wishes wishes) {
        letters = (wishes.patient() ? ArtemisMain.BLOCKING : ArtemisMain.REFUSING) + name;
        return builder(wishes.misspelt() ? ArtemisMain.CLOSED + name : name, consumer, inbox)
                .retry(wishes.retry())
                .maxPendingBytes(wishes.maxPendingBytes())
                .listen();
    }

    private JmsInbox.Builder builder(String queue, Consumer consumer, Inbox inbox) {
        return options.apply(JmsInbox.builder(factory, queue, consumer, inbox).deadLetters(letters));
    }

    @Override
    public void breakLetters() throws Exception {
        artemis.fill(letters);
    }

    @Override
    public void mendLetters() throws Exception {
        artemis.empty(letters);
    }

    /** The broker makes it again. */
    @Override
    public void removeLetters() throws Exception {
        artemis.remove(letters);
    }

    /** Senders of AMQP have credit, and go on for a while. */
    @Override
    public void blockPublishers(boolean blocked) throws Exception {
        if (factory instanceof JmsConnectionFactory) {
            BrokerUnderTest.super.blockPublishers(blocked);
        }
        if (blocked) {
            artemis.block(letters);
        } else {
            artemis.empty(letters);
        }
    }

    @Override
    public boolean repeatsHeaders() {
        return false;
    }

    @Override
    public Optional<List<String>> warnings() {
        return Optional.of(Warnings.fromNowOn());
    }

    @Override
    public long unsettled() throws Exception {
        return artemis.messages(name);
    }

    @Override
    public DeadLetters deadLetters() {
        return JmsDeadLetters.open(factory, letters, JmsMessages.reader(), Set.of(name));
    }

    @Override
    public void kill() throws Exception {
        close();
        artemis.kill();
    }

    @Override
    public void restart() throws Exception {
        artemis.restart();
    }

    @Override
    public void close() {
        if (connection != null) {
            try {
                connection.close();
            } catch (JMSException gone) {
                // with its broker
            }
            connection = null;
            session = null;
        }
    }
}
