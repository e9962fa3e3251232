package dev.idem;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which handler of a consumer takes which message; read by the inbox. Immutable and thread-safe. */
public final class Routes {
    private final Map<Kind, Route> byKind;
    private final @Nullable Route fallback;

    private Routes(Map<Kind, Route> byKind, @Nullable Route fallback) {
        this.byKind = Map.copyOf(byKind);
        this.fallback = fallback;
    }

    /** The one for exactly this type and version, else for any version of the type, else for anything; null if there is none. */
    public @Nullable Route find(Message message) {
        Route found = null;
        if (message.type().isPresent()) {
            String type = message.type().get();
            found = message.version().map(v -> byKind.get(new Kind(type, v))).orElse(null);
            found = found != null ? found : byKind.get(new Kind(type, null));
        }
        return found != null ? found : fallback;
    }

    /** Whether some version of the type has a handler of its own. */
    public boolean know(String type) {
        return byKind.keySet().stream().anyMatch(kind -> kind.type.equals(type));
    }

    /** Whether some are handled in steps. */
    public boolean haveSteps() {
        return any(Route.Stepwise.class::isInstance);
    }

    /** Whether the result of some is kept. */
    public boolean keepResults() {
        return any(route -> route instanceof Route.Each<?, ?> each && each.codec() != null);
    }

    private boolean any(Predicate<Route> test) {
        return Stream.concat(byKind.values().stream(), Stream.ofNullable(fallback))
                .anyMatch(test);
    }

    private record Kind(String type, @Nullable String version) {}

    /** Collects the routes of one consumer. Not thread-safe. */
    static final class Builder {
        private final String consumer;
        private final Map<Kind, Route> byKind = new HashMap<>();
        private @Nullable Route fallback;

        Builder(String consumer) {
            this.consumer = consumer;
        }

        /**
         * The route of a type.
         *
         * @param version of which it is, or null for all that have none of their own
         */
        void add(String type, @Nullable String version, Route route) {
            Objects.requireNonNull(type, "type");
            if (byKind.putIfAbsent(new Kind(type, version), route) != null) {
                throw new IllegalArgumentException("Consumer " + consumer + " has two handlers for type " + type
                        + (version == null ? "" : " version " + version));
            }
        }

        /** The route of everything else. */
        void otherwise(Route route) {
            if (fallback != null) {
                throw new IllegalArgumentException("Consumer " + consumer + " has two handlers for other messages");
            }
            fallback = route;
        }

        Routes build() {
            return new Routes(byKind, fallback);
        }
    }
}
