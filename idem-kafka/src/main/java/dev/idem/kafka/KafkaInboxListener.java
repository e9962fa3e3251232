package dev.idem.kafka;

import dev.idem.broker.spi.ListenerRun;
import dev.idem.broker.spi.RestartableListener;
import java.util.List;

/** Listens, until it is closed. Built by {@link KafkaInbox}. Thread-safe. */
public final class KafkaInboxListener extends RestartableListener<ListenerRun> {
    KafkaInboxListener(Plan plan) {
        super(() -> new KafkaRun(plan), plan.options().drain());
    }

    /** The partitions it has now, in no order. */
    public List<PartitionStatus> partitions() {
        return run() instanceof KafkaRun run ? run.partitions() : List.of();
    }
}
