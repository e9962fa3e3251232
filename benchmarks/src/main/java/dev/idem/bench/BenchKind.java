package dev.idem.bench;

import java.util.List;
import java.util.Locale;

/** What a user can ask for. */
enum BenchKind {
    INLINE,
    BATCH,
    WATERMARK,
    GROWTH,
    ALL;

    List<Bench> benches() {
        return switch (this) {
            case INLINE -> List.of(new InlineBench());
            case BATCH -> List.of(new BatchBench());
            case WATERMARK -> List.of(new WatermarkBench());
            case GROWTH -> List.of(new GrowthBench());
            case ALL -> List.of(new InlineBench(), new BatchBench(), new WatermarkBench(), new GrowthBench());
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
