package dev.idem.cli.torture;

import dev.idem.KeySelector;
import dev.idem.Message;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Mistakes that are planted around the library, to see that the campaign finds them. */
enum Defect {
    NONE,
    /** The broker is told before the message is stored. */
    EARLY_ACK,
    /** What is committed is not on disk yet. */
    NOT_DURABLE,
    /** Every delivery counts as a new message. */
    NO_MARKER,
    /** A worker completes what another one has taken over. */
    NO_FENCE,
    /** Messages of a key do not wait for each other. */
    NO_ORDER,
    /** The handler commits on a connection of its own. */
    OWN_TRANSACTION;

    private static final String DELIVERY = "delivery";
    private static final int PAUSE_PERCENT = 15;
    private static final int MOSTLY_PERCENT = 80;

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static List<String> labels() {
        return Stream.of(values()).filter(d -> d != NONE).map(Defect::label).toList();
    }

    KeySelector key() {
        return this == NO_MARKER ? KeySelector.header(DELIVERY) : KeySelector.messageId();
    }

    /** A message as it is delivered, for the one who takes each delivery for a message. */
    Message delivered(Item item) {
        return item.toMessage().toBuilder()
                .header(DELIVERY, UUID.randomUUID().toString())
                .build();
    }

    /** What every new connection runs first. */
    String greeting() {
        return this == NOT_DURABLE ? "SET synchronous_commit = off" : "SELECT 1";
    }

    /** Settings of the server. What is not flushed by a commit is flushed now and then, which is too late by then. */
    Map<String, String> server() {
        return this == NOT_DURABLE
                ? Map.of("wal_writer_delay", "10s", "wal_writer_flush_after", "1GB", "wal_buffers", "64MB")
                : Map.of();
    }

    /** How many of the blows at workers are pauses; the one that ignores fences is seen by nothing else. */
    int pausePercent() {
        return this == NO_FENCE ? MOSTLY_PERCENT : PAUSE_PERCENT;
    }

    /** Some of them change statements of the store on their way to the database. */
    DataSource around(DataSource dataSource) {
        return switch (this) {
            case NO_FENCE ->
                EditedSql.of(
                        dataSource,
                        "WHERE q.id = d.i AND q.fence = d.f RETURNING",
                        "WHERE q.id = d.i RETURNING",
                        "THEN 0 ELSE CAST('lost but ' || n AS integer) END",
                        "THEN 0 ELSE 0 END");
            case NO_ORDER ->
                EditedSql.of(
                        dataSource,
                        "CASE WHEN b THEN NULL ELSE n END, CASE WHEN b THEN 3 ELSE 0 END",
                        "n, 0",
                        "AND p.order_key = q.order_key AND p.id < q.id",
                        "AND false");
            default -> dataSource;
        };
    }
}
