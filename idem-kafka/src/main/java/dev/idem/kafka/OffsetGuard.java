package dev.idem.kafka;

import dev.idem.StoreException;
import dev.idem.StoreReplacedException;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoreWitness;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps offsets and store together: each committed offset carries the store's testimony as its metadata, and before a
 * partition is begun the testimony of its offset is shown to the store. A store that was restored from a backup, or made anew,
 * does not know it; consuming on would leave out everything that was done since. The metadata also names the topic by
 * its id: an offset of a topic that was deleted since says nothing about the one that has its name now. Offsets without a
 * testimony, of a first start or of other tools, say nothing. Thread-safe.
 */
final class OffsetGuard {
    private static final Logger log = LoggerFactory.getLogger(KafkaInbox.class);
    private static final String TOPIC = ";topic=";

    private final @Nullable StoreWitness witness;
    private final boolean trusting;
    private final AtomicBoolean told = new AtomicBoolean();

    /** @param trusting whether offsets are believed whatever the store says; what is committed bears witness all the same */
    OffsetGuard(MarkerStore store, boolean trusting) {
        witness = store instanceof MarkerStore.Witnessed witnessed ? witnessed.witness() : null;
        this.trusting = trusting;
    }

    /**
     * Lets partitions begin, and answers those whose committed offset is one of another topic with the same name.
     *
     * @param streams the partitions, and the names of their topics for good
     * @throws dev.idem.StoreReplacedException when the store is older than their offsets, or another one
     * @throws dev.idem.StoreException when it does not answer now
     * @throws org.apache.kafka.common.errors.RetriableException when the broker does not
     */
    Set<TopicPartition> admit(Consumer<byte[], byte[]> consumer, Map<TopicPartition, String> streams) {
        List<String> said = new ArrayList<>();
        Set<TopicPartition> others = new HashSet<>();
        consumer.committed(streams.keySet()).forEach((partition, committed) -> {
            if (committed == null) {
                return;
            }
            String metadata = committed.metadata();
            int topic = metadata.lastIndexOf(TOPIC);
            said.add(topic < 0 ? metadata : metadata.substring(0, topic));
            if (topic >= 0 && !metadata.substring(topic + TOPIC.length()).equals(streams.get(partition))) {
                others.add(partition);
            }
        });
        confirm(streams.keySet(), said);
        return others;
    }

    private void confirm(Set<TopicPartition> partitions, List<String> said) {
        if (witness == null) {
            return;
        }
        try {
            witness.confirm(trusting ? List.of() : said);
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

    /** What goes with an offset of this topic that is committed now. */
    String metadata(Optional<String> stream) {
        return testimony() + stream.map(name -> TOPIC + name).orElse("");
    }

    private String testimony() {
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
