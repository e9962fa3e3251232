package dev.idem.kafka;

import dev.idem.StoreException;
import dev.idem.StoreReplacedException;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoreWitness;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps offsets and store together: each committed offset carries the store's testimony as its metadata, and before a
 * partition is begun the testimony of its offset is shown to the store. A store that was restored from a backup, or made anew,
 * does not know it; consuming on would leave out everything that was done since. Offsets without a testimony, of a first
 * start or of other tools, say nothing. Thread-safe.
 */
final class OffsetGuard {
    private static final Logger log = LoggerFactory.getLogger(KafkaInbox.class);

    private final @Nullable StoreWitness witness;
    private final boolean trusting;
    private final AtomicBoolean told = new AtomicBoolean();

    /** @param trusting whether offsets are believed whatever the store says; what is committed bears witness all the same */
    OffsetGuard(MarkerStore store, boolean trusting) {
        witness = store instanceof MarkerStore.Witnessed witnessed ? witnessed.witness() : null;
        this.trusting = trusting;
    }

    /**
     * Lets partitions begin.
     *
     * @throws dev.idem.StoreReplacedException when the store is older than their offsets, or another one
     * @throws dev.idem.StoreException when it does not answer now
     * @throws org.apache.kafka.common.errors.RetriableException when the broker does not
     */
    void admit(Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions) {
        if (witness == null) {
            return;
        }
        try {
            witness.confirm(trusting ? List.of() : said(consumer, partitions));
            told.set(false);
        } catch (StoreException outage) {
            if (told.compareAndSet(false, true)) {
                log.warn("{} wait: {}", partitions, outage.getMessage());
            }
            if (!trusting) {
                throw outage;
            }
        }
    }

    private static List<String> said(Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions) {
        List<String> said = new ArrayList<>();
        for (OffsetAndMetadata committed : consumer.committed(partitions).values()) {
            if (committed != null) {
                said.add(committed.metadata());
            }
        }
        return said;
    }

    /** What goes with an offset that is committed now. */
    String metadata() {
        try {
            return witness == null ? "" : witness.testimony().orElse("");
        } catch (StoreReplacedException lost) {
            if (trusting) {
                return "";
            }
            throw lost;
        }
    }
}
