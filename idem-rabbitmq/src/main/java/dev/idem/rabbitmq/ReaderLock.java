package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import dev.idem.IdemException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets one reader at a time look at the dead letters of a queue. What somebody else has read and not acknowledged cannot be seen,
 * not even counted; to a second reader the queue would look empty, and a replay session would end before its letters were sent. The
 * lock is an exclusive queue beside that of the letters, which the broker removes with the reader's connection. Stateless.
 */
final class ReaderLock {
    private static final Logger log = LoggerFactory.getLogger(RabbitDeadLetters.class);
    private static final int LONGEST_NAME = 255;

    private ReaderLock() {}

    /**
     * Takes it for as long as the connection lasts.
     *
     * @throws IdemException if somebody else has it
     */
    static void take(Connection connection, String queue) throws IOException, TimeoutException {
        Channel channel = connection.createChannel();
        try {
            channel.queueDeclare(nameFor(queue), false, true, false, Map.of("x-queue-type", "classic"));
            channel.close();
        } catch (IOException failure) {
            int code = codeOf(failure);
            if (code == AMQP.RESOURCE_LOCKED) {
                throw new IdemException(
                        "Somebody else is reading the dead letters in queue " + queue
                                + ", and what they have read is hidden: try again when they are done",
                        failure);
            }
            if (code != AMQP.ACCESS_REFUSED) {
                throw failure;
            }
            log.warn(
                    "{}: the user may not declare the queue {}, so letters that somebody else is reading are not noticed",
                    queue,
                    nameFor(queue));
        }
    }

    private static String nameFor(String queue) {
        String name = queue + ".idem-reader";
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= LONGEST_NAME ? name : "idem-reader." + UUID.nameUUIDFromBytes(bytes);
    }

    private static int codeOf(IOException failure) {
        return failure.getCause() instanceof ShutdownSignalException signal
                        && signal.getReason() instanceof AMQP.Channel.Close close
                ? close.getReplyCode()
                : 0;
    }
}
