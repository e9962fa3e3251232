package dev.idem.bench;

import java.util.List;
import java.util.Locale;

/** What a user can ask for. */
enum BenchKind {
    INLINE,
    ALL;

    List<Bench> benches() {
        return switch (this) {
            case INLINE, ALL -> List.of(new InlineBench());
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
