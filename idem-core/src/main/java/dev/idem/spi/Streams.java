package dev.idem.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The streams whose versions are judged in one transaction. Whoever has locked a stream is alone with it until its
 * transaction ends, also with one that nobody has seen before. Used by one thread.
 */
public interface Streams {
    /**
     * Locks streams, in an order that is the same for all callers. Answers the last version of each that was applied, as it
     * is committed now; empty for a stream of which nothing was. A stream that is not in the answer is locked by somebody
     * else.
     *
     * @param wait how long to wait for somebody else; zero: those that are locked are left out at once
     * @throws TransientStoreException when it failed for a reason that passes
     * @throws dev.idem.StoreException when the store cannot work at all
     */
    Map<String, OptionalLong> lock(Collection<String> streams, Duration wait);

    /**
     * The lowest version of each stream that waits in the queue, whoever has it; nothing for streams of which none waits. So
     * that a stream begins with the first that was stored, and not with the first that a worker gets hold of.
     */
    default Map<String, Long> lowestStored(Collection<String> streams) {
        return Map.of();
    }

    /** Says that these versions are applied by the transaction's commit; each stream must be locked. */
    void move(Map<String, Long> applied);
}
