package dev.idem.cli.demo;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Locale;

/**
 * The end of a demo, as it is printed and as it goes into JSON.
 *
 * @param deliveries to Idem; each seat has its own, since each dies at its own moments
 */
record DemoReport(
        int messages,
        int publications,
        long deliveries,
        int kills,
        long seed,
        String store,
        String broker,
        String mode,
        double seconds,
        Seat idem,
        Seat naive) {

    @JsonIgnore
    boolean isQueued() {
        return mode.equals(DemoMode.QUEUED.label());
    }

    /** One seat: what the broker saw, and what is in the business table. */
    record Seat(
            String consumer,
            long deliveries,
            long redeliveries,
            int duplicatesSkipped,
            int kills,
            int deadLettered,
            int failures,
            long parked,
            int doubled,
            int lost,
            long overchargedCents) {
        static Seat of(SeatKind kind, LaneResult lane, Ledger.Count count, long parked) {
            return new Seat(
                    kind.label(),
                    lane.deliveries(),
                    lane.redeliveries(),
                    lane.duplicatesSkipped(),
                    lane.kills(),
                    lane.deadLettered(),
                    lane.failures(),
                    parked,
                    count.doubled(),
                    count.lost(),
                    count.overchargedCents());
        }

        @JsonIgnore
        boolean isExact() {
            return doubled == 0 && lost == 0;
        }

        @JsonIgnore
        String overcharged() {
            return String.format(Locale.ROOT, "%,d.%02d", overchargedCents / 100, overchargedCents % 100);
        }
    }
}
