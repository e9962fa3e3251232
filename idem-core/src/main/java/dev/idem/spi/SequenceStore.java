package dev.idem.spi;

import dev.idem.sequence.Gap;
import java.util.List;
import java.util.Optional;

/**
 * What a store knows of the gaps in its streams, and how they are closed without the message that is missing. Thread-safe.
 * Everything that gives something up is audited in the same transaction.
 */
public interface SequenceStore {
    /** Streams of a consumer in which messages wait for a version before them, the longest waiting first. */
    List<Gap> gaps(String consumer, int limit);

    /** How one stream stands; empty if nothing waits in it. */
    Optional<Gap> gap(String consumer, String stream);

    /**
     * Goes on behind a gap, if it is still as it was seen: nothing up to the version before {@code next} will be applied any
     * more, and what waits for that is released. Answers how many messages that were; empty if the gap is another one now, or
     * somebody is working on the stream.
     */
    Optional<Integer> pass(Gap seen, long next, Deed deed);

    /** Parks everything that waits in the stream, if the gap is still as it was seen. Answers as {@code pass} does. */
    Optional<Integer> park(Gap seen, Deed deed);

    /**
     * What goes to the audit.
     *
     * @param action one word
     */
    record Deed(String action, String actor, String reason) {}
}
