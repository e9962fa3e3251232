package dev.idem.spi;

import java.util.Collection;
import java.util.Optional;

/**
 * Lets those who remember how far a consumer is, outside the store, notice that the store is behind them: restored
 * from a backup, or created anew. They keep a testimony with what they remember (Kafka with each committed offset), and show it
 * to the store before they go on. Thread-safe.
 */
public interface StoreWitness {
    /**
     * What to keep now, at most 200 ASCII characters. Asks no database, so it may lag behind by some seconds: what was lost
     * of less than those is not noticed. Empty before the first {@link #confirm}.
     *
     * @throws dev.idem.StoreReplacedException when the store was restored while this process was running
     */
    Optional<String> testimony();

    /**
     * Compares what was kept with the store. Texts that are none of its testimonies say nothing, and do no harm.
     *
     * @throws dev.idem.StoreReplacedException when the store does not remember what it once said, with what to do about it
     * @throws dev.idem.StoreException when the store does not answer now
     */
    void confirm(Collection<String> testimonies);
}
