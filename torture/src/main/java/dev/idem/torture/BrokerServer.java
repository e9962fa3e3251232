package dev.idem.torture;

import dev.idem.Message;
import java.util.List;

/** A real broker of the campaign's own, with a topic or a queue on it. */
interface BrokerServer extends Victim, AutoCloseable {
    /** The topic or the queue. */
    String NAME = "torture";

    /** Where the dead letters are. */
    String LETTERS = NAME + ".dead-letters";

    static BrokerServer start(TortureSettings settings) throws Exception {
        return switch (settings.subject()) {
            case PIPELINE -> KafkaBroker.start(NAME, Pipeline.OUT);
            case RABBITMQ -> RabbitBroker.start(settings.isOrdered());
            default -> KafkaBroker.withLetters(NAME);
        };
    }

    /** Where a consumer finds it: host and port. */
    String address();

    /** How many lanes it has in which order is kept. */
    int lanes();

    /** Returns when the broker has confirmed all of them, however long it is away; some may be there twice then. */
    void publish(int lane, List<Message> messages) throws Exception;

    /** The messages that were set aside, as the broker has them; some may be there twice. */
    default List<Item> letters() throws Exception {
        return List.of();
    }

    /** How many messages the consumers have not acknowledged. */
    long unfinished() throws Exception;

    @Override
    void close();

    /**
     * Forgets how far consumers were that are gone: those to come have another database, and rightly refuse offsets that were
     * committed with this one.
     */
    default void forgetConsumers() throws Exception {}
}
