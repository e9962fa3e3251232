package dev.idem.kafka;

import dev.idem.RetryableException;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import java.util.regex.Pattern;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Whether it is about a record or about the broker that the record is not there. */
final class Refusal {
    private static final Pattern NAME = Pattern.compile("(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}");

    private Refusal() {}

    /** A name that no topic can have would be noticed by the first message only, and by each of them. */
    static String checkedName(String topic) {
        if (!NAME.matcher(topic).matches()) {
            throw new IllegalArgumentException("'" + topic
                    + "' is no name of a topic: that has 1 to 249 letters, digits or . _ - and is neither . nor ..");
        }
        return topic;
    }

    /** What to tell people about a listener that its broker refuses. */
    static String whatIsMissing(KafkaException refused) {
        String advice = refused instanceof AuthorizationException
                ? "Grant it to read its topics and its group, and to write the topics of dead letters"
                : "Correct its credentials";
        return refused.getClass().getSimpleName() + ": " + refused.getMessage() + " " + advice;
    }

    static RuntimeException of(Throwable cause, String topic) {
        if (cause
                instanceof RecordBatchTooLargeException) { // perhaps not of this one, so it is tried again with others
            return new RetryableException("Topic " + topic + " does not take the batch", cause);
        }
        if (cause instanceof RecordTooLargeException) {
            return new TerminalException(
                    "Topic " + topic + " does not take the record: " + cause.getMessage()
                            + " Keep its payload elsewhere and publish a reference, or raise max.message.bytes of the topic",
                    cause);
        }
        if (cause instanceof InvalidTimestampException
                || cause instanceof InvalidRecordException
                || cause instanceof SerializationException) {
            return new TerminalException("Topic " + topic + " does not take the record: " + cause.getMessage(), cause);
        }
        return new StoreException(
                "Topic " + topic + " did not confirm: " + cause.getMessage() + whatToDo(cause, topic), cause);
    }

    private static String whatToDo(Throwable cause, String topic) {
        if (cause instanceof TopicAuthorizationException) {
            return " Grant this client the right to write to it; messages wait until then";
        }
        // A topic that does not exist is waited for, like a broker that is not there.
        boolean unknown = cause instanceof UnknownTopicOrPartitionException
                || (cause instanceof TimeoutException
                        && String.valueOf(cause.getMessage()).contains(topic));
        return unknown
                ? " If the brokers can be reached, create it, or name another one; messages wait until then"
                : "";
    }
}
