package dev.idem.broker;

import java.util.Optional;

/**
 * The dead letters of one destination, read one after the other, oldest first. Reading takes nothing away; what was not sent
 * again is still there when this is closed. Used by one thread.
 */
public interface DeadLetters extends AutoCloseable {
    /** The next letter; empty if there is none behind the last one. What is not one of our dead letters is passed over. */
    Optional<Letter> next();

    /**
     * Sends the message of the letter that {@link #next} answered last to where it came from, with the same id, key, headers and
     * payload; waits until the broker has it; and only then takes the letter away. If this ends anywhere in between, the
     * letter is still there, and the message is sent once more by the next run: the consumer's inbox will know it.
     *
     * @throws dev.idem.IdemException if the broker did not confirm; the letter is still there
     */
    void sendAgain(Letter letter);

    /** About how many letters there are, taken away ones perhaps included; empty if the broker cannot tell. */
    Optional<Long> size();

    @Override
    void close();
}
