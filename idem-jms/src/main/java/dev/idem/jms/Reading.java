package dev.idem.jms;

import dev.idem.Header;
import dev.idem.broker.MessageReader;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Seal;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.List;
import java.util.Optional;

/**
 * Turns what a listener receives into deliveries. Producers write to the queue too: what a copy of ours says about itself
 * counts only under our seal. Used by the receiving thread.
 */
final class Reading {
    /** How often the handler has failed, on copies that come again. */
    static final String FAILURES = "idem-failures";

    /** The id that the broker gave to the first of the copies. */
    static final String FIRST_ID = "idem-first-id";

    private static final String SEAL = "idem_seal";

    /** More than any retry policy allows, and sums with it do not overflow. */
    private static final int MOST_FAILURES = 1_000_000;

    private final MessageReader<Message> reader;
    private final Seal seal;
    private final boolean idOfBroker;

    Reading(MessageReader<Message> reader, Seal seal, boolean idOfBroker) {
        this.reader = reader;
        this.seal = seal;
        this.idOfBroker = idOfBroker;
    }

    KeyedExecutor.Delivery<Taken> read(Message origin, ReceivingSession session) throws JMSException {
        List<Header> ours = origin.propertyExists(SEAL) ? seal.open(reader.raw(origin)) : List.of();
        dev.idem.Message message = Identity.read(reader.read(origin), ours);
        String firstId = text(ours, FIRST_ID).orElse(origin.getJMSMessageID());
        if (idOfBroker && message.id().isEmpty() && Incoming.isReadable(origin)) {
            message = message.toBuilder().id(firstId).build();
        }
        int failures = text(ours, FAILURES).map(Reading::number).orElse(0);
        return new KeyedExecutor.Delivery<>(new Taken(origin, session, firstId), message, failures);
    }

    /** Whether a header is part of what is sealed on a dead letter, so that it survives a replay. */
    static boolean isSealed(String header) {
        return Identity.isPart(header) || header.equals(FIRST_ID) || header.equals(Properties.nameElsewhere(SEAL));
    }

    private static Optional<String> text(List<Header> headers, String name) {
        return headers.stream()
                .filter(header -> header.name().equals(name))
                .findFirst()
                .map(Header::text);
    }

    private static int number(String text) {
        try {
            return Math.max(0, Math.min(MOST_FAILURES, Integer.parseInt(text)));
        } catch (NumberFormatException malformed) {
            return 0;
        }
    }
}
