package dev.idem.torture;

import dev.idem.KeySelector;
import dev.idem.Message;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.IntConsumer;
import javax.sql.DataSource;

/** Mistakes that are planted around the library, to see that the campaign finds them. */
enum Defect {
    NONE,
    /** The broker is told before the message is stored, or its effect committed. */
    EARLY_ACK,
    /** What is committed is not on disk yet. */
    NOT_DURABLE,
    /** Every delivery counts as a new message. */
    NO_MARKER,
    /** A worker completes what another one has taken over. */
    NO_FENCE,
    /** Messages of a key do not wait for each other. */
    NO_ORDER,
    /** Receivers that store messages of one key at the same time do not wait for each other. */
    NO_TURNS,
    /** What is half done in steps is begun from the beginning by a handler without steps. */
    HALF_DONE,
    /** A call with an unknown end is made again, though its provider knows no keys. */
    CALLED_AGAIN,
    /** Workers take as many messages as they may, however large these are. */
    BY_ROWS,
    /** The handler commits on a connection of its own. */
    OWN_TRANSACTION,
    /** The highest offset at hand is committed, whatever lies unfinished before it. */
    HIGHEST_OFFSET,
    /** The broker forgets what it has delivered. */
    AUTO_ACK,
    /** What should be set aside is acknowledged, and no letter tells of it. */
    FORGOTTEN_LETTERS,
    /** What a handler wants published is sent after its commit, by the process that made it. */
    AFTER_COMMIT;

    private static final String DELIVERY = "delivery";
    private static final int PAUSE_PERCENT = 15;
    private static final int MOSTLY_PERCENT = 80;

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Those that can be planted in such a campaign. */
    static List<Defect> of(Subject subject) {
        return switch (subject) {
            case INBOX ->
                List.of(
                        EARLY_ACK,
                        NOT_DURABLE,
                        NO_MARKER,
                        NO_FENCE,
                        NO_ORDER,
                        NO_TURNS,
                        HALF_DONE,
                        CALLED_AGAIN,
                        BY_ROWS,
                        OWN_TRANSACTION);
            case KAFKA -> List.of(EARLY_ACK, NO_MARKER, OWN_TRANSACTION, HIGHEST_OFFSET, FORGOTTEN_LETTERS);
            case PIPELINE -> List.of(OWN_TRANSACTION, AFTER_COMMIT);
            case RABBITMQ -> List.of(EARLY_ACK, NO_MARKER, OWN_TRANSACTION, AUTO_ACK, FORGOTTEN_LETTERS);
        };
    }

    /** Whether another loop than the library's does the work. */
    boolean isByHand() {
        return this == EARLY_ACK || this == HIGHEST_OFFSET || this == AUTO_ACK;
    }

    static List<String> labels(Subject subject) {
        return of(subject).stream().map(Defect::label).toList();
    }

    /** The names of those that can be planted in one kind of campaign, for the help. */
    abstract static class Names implements Iterable<String> {
        private final Subject subject;

        Names(Subject subject) {
            this.subject = subject;
        }

        @Override
        public Iterator<String> iterator() {
            return labels(subject).iterator();
        }
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
    List<EditedSql.Edit> edits() {
        return switch (this) {
            case NO_FENCE ->
                List.of(
                        new EditedSql.Edit(
                                "WHERE q.id = d.i AND q.fence = d.f RETURNING", "WHERE q.id = d.i RETURNING"),
                        new EditedSql.Edit("THEN 0 ELSE CAST('lost but ' || n AS integer) END", "THEN 0 ELSE 0 END"));
            case NO_ORDER ->
                List.of(
                        new EditedSql.Edit("CASE WHEN b THEN NULL ELSE 0 END, CASE WHEN b THEN 3 ELSE 0 END", "0, 0"),
                        new EditedSql.Edit("AND p.order_key = q.order_key AND p.id < q.id", "AND false"));
            case NO_TURNS -> List.of(new EditedSql.Edit("pg_advisory_xact_lock(?, s)", "coalesce(?, s)"));
            case HALF_DONE -> List.of(new EditedSql.Edit("place <> -1 AND message_key", "place < -1 AND message_key"));
            case BY_ROWS ->
                List.of(new EditedSql.Edit("(OCTET_LENGTH(q.head) + OCTET_LENGTH(q.payload)) <= ?", "? IS NOT NULL"));
            default -> List.of();
        };
    }

    /** @param told hears which of the edits have changed a statement; an edit that changes none is no planted defect */
    DataSource around(DataSource dataSource, IntConsumer told) {
        return edits().isEmpty() ? dataSource : EditedSql.of(dataSource, edits(), told);
    }
}
