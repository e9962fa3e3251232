package dev.idem.jms;

import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.MessageReader;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dead letters of a queue: looked at with a browser; sent again and taken away in one transaction. A letter says which
 * queue it came from, but somebody may have forged it: it is sent only to a queue that is allowed. Not thread-safe.
 */
public final class JmsDeadLetters implements DeadLetters {
    private static final Logger log = LoggerFactory.getLogger(JmsDeadLetters.class);
    private static final String SUFFIX = ".dead-letters";
    private static final long PATIENCE_MILLIS = 5_000;

    private final Connection connection;
    private final Session session;
    private final QueueBrowser browser;
    private final Enumeration<?> messages;
    private final String queue;
    private final MessageReader<Message> reader;
    private final Set<String> allowedOrigins;

    private JmsDeadLetters(
            ConnectionFactory factory, String queue, MessageReader<Message> reader, Set<String> allowedOrigins)
            throws JMSException {
        this.queue = queue;
        this.reader = reader;
        this.allowedOrigins = Set.copyOf(allowedOrigins);
        connection = factory.createConnection();
        try {
            session = connection.createSession(Session.SESSION_TRANSACTED);
            browser = session.createBrowser(session.createQueue(queue));
            connection.start();
            messages = browser.getEnumeration();
        } catch (JMSException | RuntimeException failure) {
            connection.close();
            throw failure;
        }
    }

    /**
     * Opens a queue of dead letters. They are sent again to the queue that it belongs to by its name, which is
     * {@code orders} for {@code orders.dead-letters}; for a queue of another name, to none.
     */
    public static JmsDeadLetters open(ConnectionFactory factory, String queue) {
        return open(factory, queue, Attributes.defaults());
    }

    /** Opens them, where the attributes come from elsewhere. */
    public static JmsDeadLetters open(ConnectionFactory factory, String queue, Attributes attributes) {
        boolean named = queue.length() > SUFFIX.length() && queue.endsWith(SUFFIX);
        Set<String> owner = named ? Set.of(queue.substring(0, queue.length() - SUFFIX.length())) : Set.of();
        return open(factory, queue, JmsMessages.reader().attributes(attributes), owner);
    }

    /**
     * Opens them.
     *
     * @param reader as the listener has it
     * @param allowedOrigins the queues that letters may be sent to again
     */
    public static JmsDeadLetters open(
            ConnectionFactory factory, String queue, MessageReader<Message> reader, Set<String> allowedOrigins) {
        try {
            return new JmsDeadLetters(factory, queue, reader, allowedOrigins);
        } catch (JMSException failure) {
            throw failed("open the dead letters of " + queue, failure);
        }
    }

    @Override
    public Optional<Letter> next() {
        try {
            while (messages.hasMoreElements()) {
                Message message = (Message) messages.nextElement();
                Optional<Letter> letter = letter(message);
                if (letter.isPresent()) {
                    return letter;
                }
            }
            return Optional.empty();
        } catch (JMSException failure) {
            throw failed("read the dead letters of " + queue, failure);
        }
    }

    private Optional<Letter> letter(Message message) throws JMSException {
        String place = message.getStringProperty(Outgoing.LETTER);
        if (place == null) {
            return Optional.empty();
        }
        dev.idem.Message letter = reader.readLetter(message);
        dev.idem.Message read = Identity.read(letter, letter.headers());
        return DeadLetter.of(read).map(about -> new Letter(place, read, about));
    }

    @Override
    public void sendAgain(Letter letter) {
        String origin = allowedOrigin(letter);
        String selector = Outgoing.LETTER + " = '" + letter.place().replace("'", "''") + "'";
        boolean sent = false;
        try (MessageConsumer consumer = session.createConsumer(session.createQueue(queue), selector);
                MessageProducer producer = session.createProducer(session.createQueue(origin))) {
            Message message = consumer.receive(PATIENCE_MILLIS);
            if (message == null) {
                throw new IdemException(
                        "Letter " + letter.place() + " is not there any more: somebody else took it", null);
            }
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
            producer.setPriority(message.getJMSPriority());
            producer.send(again(message));
            session.commit();
            sent = true;
        } catch (JMSException failure) {
            throw failed("send letter " + letter.place() + " again", failure);
        } finally {
            if (!sent) {
                putBack();
            }
        }
    }

    /** Of what we have added, the queue believes the sealed part only. */
    private Message again(Message message) throws JMSException {
        List<Header> sealed = reader.raw(message).headers().stream()
                .filter(header -> Reading.isSealed(header.name()))
                .toList();
        return Copy.of(session, message, sealed);
    }

    private String allowedOrigin(Letter letter) {
        String origin = letter.about().origin().get("queue");
        if (origin == null) {
            throw new IdemException("Letter " + letter.place() + " does not say where it came from", null);
        }
        if (!allowedOrigins.contains(origin)) {
            throw new IdemException(
                    "Letter " + letter.place() + " wants to be sent to queue " + origin + ", but allowed are only "
                            + allowedOrigins
                            + ". If that is where it came from, allow it when you open the dead letters",
                    null);
        }
        return origin;
    }

    /** Else the next letter's commit would take this one away. */
    private void putBack() {
        try {
            session.rollback();
        } catch (JMSException broken) {
            log.debug("A letter could not be put back; the broker does that when the connection is closed", broken);
        }
    }

    /** Unknown: a browser does not tell. */
    @Override
    public Optional<Long> size() {
        return Optional.empty();
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (JMSException failure) {
            throw failed("close the dead letters of " + queue, failure);
        }
    }

    private static IdemException failed(String what, JMSException failure) {
        return new IdemException(
                "Could not " + what
                        + ": check that the broker is there, that the queue exists, and that the user may browse it, consume from it and send",
                failure);
    }
}
