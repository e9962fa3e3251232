package dev.idem.cli.demo;

import java.util.Locale;
import javax.sql.DataSource;

/** Who may sit in a consumer JVM. */
enum SeatKind {
    IDEM,
    /** With Idem's durable inbox. */
    QUEUED,
    /** By hand, with a set of seen ids in memory. */
    MEMORY,
    /** By hand, looking into the business table before writing. */
    SELECT,
    /** By hand, without a thought of duplicates. */
    NONE;

    Seat open(DataSource dataSource, Charges charges) {
        return switch (this) {
            case IDEM -> new IdemSeat(dataSource, charges);
            case QUEUED -> new QueuedSeat(dataSource, charges);
            case MEMORY -> new NaiveSeat(dataSource, charges, NaiveCheck.inMemory());
            case SELECT -> new NaiveSeat(dataSource, charges, NaiveCheck.inTable());
            case NONE -> new NaiveSeat(dataSource, charges, NaiveCheck.none());
        };
    }

    boolean isIdem() {
        return this == IDEM || this == QUEUED;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
