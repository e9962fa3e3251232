package dev.idem.rabbitmq;

import dev.idem.StoreException;
import dev.idem.TerminalException;
import java.util.Optional;

/**
 * What it means for messages that a channel, or the connection, was closed while they were published. The broker does not say
 * which of them it was; but it says why, and that tells whether it was one of them, or all, or none.
 */
final class Refusal {
    private static final int CONTENT_TOO_LARGE = 311;
    private static final int ACCESS_REFUSED = 403;
    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 406;
    private static final int FRAME_ERROR = 501;
    private static final int SYNTAX_ERROR = 502;

    private Refusal() {}

    /** About one of the messages, if it is a {@link TerminalException}; else about the broker. */
    static RuntimeException of(Exception failure, String exchange) {
        Optional<Integer> code = Link.refusal(failure);
        if (code.isEmpty()) {
            return new StoreException("RabbitMQ did not confirm what was published: " + failure.getMessage(), failure);
        }
        return switch (code.get()) {
            case CONTENT_TOO_LARGE, PRECONDITION_FAILED, FRAME_ERROR, SYNTAX_ERROR ->
                new TerminalException(
                        "RabbitMQ does not take the message: " + failure.getMessage()
                                + ". If it is too large, keep its payload elsewhere and publish a reference, or raise"
                                + " max_message_size in rabbitmq.conf",
                        failure);
            case NOT_FOUND ->
                new StoreException(
                        "RabbitMQ has no exchange '" + exchange
                                + "': declare it, or name another one in RabbitPublisher.toExchange; messages wait until it is"
                                + " there",
                        failure);
            case ACCESS_REFUSED ->
                new StoreException(
                        "RabbitMQ does not let this user publish to exchange '" + exchange
                                + "': grant it the permission to write; messages wait until then",
                        failure);
            default ->
                new StoreException("RabbitMQ did not confirm what was published: " + failure.getMessage(), failure);
        };
    }

    /** Nothing of it was sent: its headers do not fit into a frame, or its routing key, id or type is longer than 255 bytes. */
    static TerminalException byTheClient(IllegalArgumentException unsendable) {
        return new TerminalException("AMQP 0-9-1 has no place for the message: " + unsendable.getMessage(), unsendable);
    }
}
