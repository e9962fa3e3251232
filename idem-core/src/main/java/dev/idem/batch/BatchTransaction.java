package dev.idem.batch;

import dev.idem.Message;
import dev.idem.Transaction;
import java.sql.Connection;
import java.util.List;
import javax.sql.DataSource;

/**
 * What a {@link BatchHandler} is given: the messages, and the one transaction in which all their markers were claimed.
 * Valid on the handler's thread until the handler returns or times out.
 */
public interface BatchTransaction {
    /** The messages, in the order of the events. */
    List<Message> messages();

    /** The name of the consumer this runs for. */
    String consumer();

    /** As {@link Transaction#connection}. */
    Connection connection();

    /** As {@link Transaction#dataSource}. */
    DataSource dataSource();

    /**
     * Says that one message failed although the handler goes on with the others. The handler must have written nothing for
     * it: only its marker is taken back.
     *
     * @param index which one, as in {@link #messages}
     */
    void fail(int index, Exception cause);

    /**
     * As {@link Transaction#publish}, for one of the messages: what is published for a message that fails is not.
     *
     * @param index of which message it is the output, as in {@link #messages}
     */
    void publish(int index, String destination, Message message);

    /** As {@link Transaction#nothingToDo}, for all messages of this call together. */
    void nothingToDo();

    /** As {@link Transaction#outputId}, for one of the messages. */
    String outputId(int index, String purpose);
}
