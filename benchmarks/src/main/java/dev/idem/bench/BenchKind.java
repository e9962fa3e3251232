package dev.idem.bench;

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
    ALL;

    /** What is run, in this order. */
    Set<BenchKind> parts() {
        return this == ALL ? EnumSet.complementOf(EnumSet.of(ALL)) : EnumSet.of(this);
    }

    Bench bench() {
        return switch (this) {
            case INLINE -> new InlineBench();
            case BATCH -> new BatchBench();
            case WATERMARK -> new WatermarkBench();
            case GROWTH -> new GrowthBench();
            case RETENTION -> new RetentionBench();
            case QUEUE -> new QueueBench();
            case ALL -> throw new IllegalStateException("all is made of parts");
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
