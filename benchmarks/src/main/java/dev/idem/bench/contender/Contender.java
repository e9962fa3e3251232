package dev.idem.bench.contender;

import java.util.List;

/** One way to process deliveries. Its tables exist when it does. Thread-safe. */
public interface Contender extends AutoCloseable {
    String name();

    /** Processes what was polled together: one delivery, unless the case has batches. */
    void handle(List<Delivery> batch) throws Exception;

    /** What is emptied before each measurement, besides the payments. */
    List<String> tables();

    /** The table in which each processed message leaves one row. */
    default String effects() {
        return "payment";
    }

    /** What tells the rows of that table apart. */
    default String effectKey() {
        return "order_id";
    }

    /** The most it can process together. */
    default int mostTogether() {
        return Integer.MAX_VALUE;
    }

    /** How many per cent of the messages have a handler that throws. */
    default int failing() {
        return 0;
    }

    /** Whether a duplicate is recognised; the floor pays it again. */
    default boolean recognisesDuplicates() {
        return true;
    }

    @Override
    default void close() {}
}
