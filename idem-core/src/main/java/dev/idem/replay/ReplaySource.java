package dev.idem.replay;

import dev.idem.IdemException;
import dev.idem.Message;
import java.util.List;
import java.util.OptionalLong;

/** Reads messages for replays; takes nothing away. Thread-safe; what it opens is used by one thread. */
public interface ReplaySource {
    /** The first word of the specs that it opens. */
    String scheme();

    /**
     * Opens the source where the session's cursor is.
     *
     * @param spec the session's, whose scheme is this one's
     * @throws IllegalArgumentException when the spec or the cursor cannot be understood: trying again would not help
     * @throws IdemException when it cannot be read now
     */
    Reading open(ReplaySession session, ReplaySpec spec);

    /** A way through the messages, in an order that is the same each time. */
    interface Reading extends AutoCloseable {
        /**
         * The next messages, as they were when they were first delivered; without any, erased ones included, at the end
         * only.
         *
         * @throws IdemException when it cannot be read now; then it must be opened anew, at the last cursor
         */
        Batch next(int most);

        /** How many there are from the beginning, if that is known. */
        OptionalLong total();

        @Override
        void close();
    }

    /**
     * Some messages of a source.
     *
     * @param cursor goes on behind them
     * @param end whether there is nothing behind them
     * @param erased how many others there are among them, of which a person had everything but the key erased
     */
    record Batch(List<Message> messages, String cursor, boolean end, int erased) {
        public Batch {
            messages = List.copyOf(messages);
        }

        /** Without any that were erased. */
        public Batch(List<Message> messages, String cursor, boolean end) {
            this(messages, cursor, end, 0);
        }
    }
}
