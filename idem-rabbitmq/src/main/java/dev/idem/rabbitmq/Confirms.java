package dev.idem.rabbitmq;

import com.rabbitmq.client.Return;
import dev.idem.Message;
import dev.idem.RetryableException;
import dev.idem.StoreException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the broker says about the messages of one round. It answers on a thread of the connection, a message's return before
 * its confirmation. Thread-safe.
 */
final class Confirms {
    private final Map<Integer, Exception> failed = new LinkedHashMap<>();
    private List<Message> messages = List.of();
    private long first;

    /** @param firstNumber of the first message, as the channel counts them */
    synchronized void begin(long firstNumber, List<Message> round) {
        failed.clear();
        first = firstNumber;
        messages = round;
    }

    /** A negative answer may be for all up to a number; of those that were taken before, some are then published again. */
    synchronized void nacked(long number, boolean multiple) {
        int last = (int) (number - first);
        for (int i = multiple ? 0 : last; i <= last; i++) {
            if (i >= 0 && i < messages.size()) {
                failed.putIfAbsent(i, new StoreException("RabbitMQ did not take the message", null));
            }
        }
    }

    /** Which one it was is only told by its id. */
    synchronized void returned(Return unroutable) {
        String id = unroutable.getProperties().getMessageId();
        for (int i = 0; i < messages.size(); i++) {
            if (messages.get(i).id().orElse("").equals(id)) {
                failed.put(
                        i,
                        new RetryableException(
                                "No queue receives what is published to exchange '" + unroutable.getExchange()
                                        + "' with routing key '" + unroutable.getRoutingKey() + "'",
                                null));
            }
        }
    }

    synchronized Map<Integer, Exception> failed() {
        return Map.copyOf(failed);
    }
}
