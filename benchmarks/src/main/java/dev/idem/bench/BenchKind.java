package dev.idem.bench;

import dev.idem.servers.RabbitServer;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What a user can ask for. */
enum BenchKind {
    INLINE,
    BATCH,
    WATERMARK,
    GROWTH,
    RETENTION,
    QUEUE,
    KAFKA,
    RABBITMQ,
    ALL;

    /** What is run, in this order. A broker that is not installed is an error only for who asks for it. */
    Set<BenchKind> parts() {
        if (this != ALL) {
            return EnumSet.of(this);
        }
        Set<BenchKind> parts = EnumSet.complementOf(EnumSet.of(ALL));
        if (!RabbitServer.available()) {
            parts.remove(RABBITMQ);
        }
        return parts;
    }

    Bench bench() {
        return switch (this) {
            case INLINE -> new InlineBench();
            case BATCH -> new BatchBench();
            case WATERMARK -> new WatermarkBench();
            case GROWTH -> new GrowthBench();
            case RETENTION -> new RetentionBench();
            case QUEUE -> new QueueBench();
            case KAFKA -> BrokerBench.kafka();
            case RABBITMQ -> BrokerBench.rabbitmq();
            case ALL -> throw new IllegalStateException("all is made of parts");
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
