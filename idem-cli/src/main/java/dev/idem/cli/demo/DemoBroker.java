package dev.idem.cli.demo;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A real broker, started for the demo. Thread-safe. */
interface DemoBroker extends AutoCloseable {
    /** Publishes everything to a place of its own, in the order of the plan, and answers where a consumer finds it. */
    Place publish(String name, DemoPlan plan) throws Exception;

    /** How many messages there are not acknowledged yet. */
    long left(Place place) throws Exception;

    @Override
    void close();

    /** All deliveries of the plan, each with its number and without a window: a broker does not plan crashes. */
    static List<Delivery> deliveries(DemoPlan plan) {
        return plan.publications().stream()
                .sorted(Comparator.comparingInt(Publication::position).thenComparingInt(Publication::number))
                .map(p -> new Delivery(p.number() + 1L, CrashWindow.NONE, p.workMillis(), p.trouble(), p.payment()))
                .toList();
    }

    /** The brokers a user may choose. */
    enum Kind {
        MEMORY,
        KAFKA,
        RABBITMQ;

        /** Null for the one that every lane has for itself. */
        @Nullable
        DemoBroker open() {
            return switch (this) {
                case MEMORY -> null;
                case KAFKA -> DemoKafka.start();
                case RABBITMQ -> DemoRabbit.start();
            };
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
