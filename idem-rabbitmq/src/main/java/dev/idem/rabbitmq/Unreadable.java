package dev.idem.rabbitmq;

import com.rabbitmq.client.MalformedFrameException;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.UnexpectedFrameError;
import java.util.Optional;

/**
 * Recognises a message that the client of RabbitMQ cannot read: it ends the connection, comes again over the next one, and so
 * would end all of them. Stateless.
 */
final class Unreadable {
    private Unreadable() {}

    /** What to tell people, if a message is the reason that a connection has ended. */
    static Optional<String> explain(Throwable end, String queue) {
        boolean byTheConnection = false;
        for (Throwable cause = end; cause != null; cause = cause.getCause()) {
            byTheConnection |= cause instanceof ShutdownSignalException;
            if (cause instanceof MalformedFrameException
                    || cause instanceof UnexpectedFrameError
                    || cause instanceof StackOverflowError
                    || (cause instanceof IllegalStateException && byTheConnection)) {
                return Optional.of(
                        "the client cannot read a message, which ends every connection: "
                                + Link.words(cause)
                                + ". Take the message out of queue " + queue
                                + "; or, if it is only large, allow it with ConnectionFactory.setMaxInboundMessageBodySize;"
                                + " or give the queue a delivery limit and a dead-letter exchange, and the broker takes it out");
            }
        }
        return Optional.empty();
    }
}
