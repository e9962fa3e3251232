package dev.idem.rabbitmq;

import dev.idem.IdemException;

/** A queue is of a kind that this consumer cannot read. Waiting does not cure that. */
final class WrongQueueException extends IdemException {
    private static final long serialVersionUID = 1L;

    WrongQueueException(String message) {
        super(message, null);
    }
}
