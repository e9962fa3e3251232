package dev.idem.jdbc.admin;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.queue.JdbcSequences;
import dev.idem.jdbc.internal.queue.QueueNumbers;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueStats;
import dev.idem.sequence.Gap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.sql.DataSource;

/**
 * The messages that wait in a store, for operators: counts, lists and shows them, whatever state they are in, and acts on
 * them in the name of a person. Messages that are done have left the queue and are not found here. Thread-safe.
 *
 * <pre>{@code
 * JdbcInbox inbox = JdbcInbox.of(JdbcSchema.of(dataSource));
 * inbox.as("anna", "the provider is back").retryAll(InboxFilter.all().withReason("EXHAUSTED"), sum -> {});
 * }</pre>
 */
public final class JdbcInbox {
    private static final int LARGEST_PAGE = 10_000;

    private final DataSource dataSource;
    private final Tables tables;
    private final InboxRows rows;
    private final InboxHistory history;
    private final QueueNumbers numbers;
    private final JdbcSequences sequences;
    private final InboxRevisions revisions;

    private JdbcInbox(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        rows = new InboxRows(tables);
        history = new InboxHistory(tables);
        numbers = new QueueNumbers(tables);
        sequences = new JdbcSequences(dataSource, tables);
        revisions = new InboxRevisions(tables);
    }

    public static JdbcInbox of(JdbcSchema schema) {
        return new JdbcInbox(schema.dataSource(), SchemaTables.of(schema));
    }

    /** How the queue of every consumer stands, by their names. Cheap, however much waits. */
    public List<QueueStats> stats() {
        return read("count the messages", connection -> {
            List<QueueStats> stats = new ArrayList<>();
            Map<String, Integer> byName = new TreeMap<>();
            KnownConsumer.names(connection, tables).forEach((number, name) -> byName.put(name, number));
            for (Map.Entry<String, Integer> consumer : byName.entrySet()) {
                stats.add(numbers.stats(connection, consumer.getKey(), consumer.getValue()));
            }
            return stats;
        });
    }

    /**
     * Streams of a consumer in which messages wait for a version that is missing, the longest waiting first.
     *
     * @param limit how many at most, 1 to 10,000
     */
    public List<Gap> gaps(String consumer, int limit) {
        if (limit < 1 || limit > LARGEST_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ", but must be 1 to " + LARGEST_PAGE);
        }
        return sequences.gaps(consumer, limit);
    }

    /** The order of a list. */
    public enum Sorted {
        OLDEST_FIRST,
        NEWEST_FIRST
    }

    /**
     * Messages, page by page. What is stored or moved meanwhile is neither shown twice nor makes others be left out.
     *
     * @param after where the page begins, from the page before; empty for the first
     */
    public InboxMessage.Page list(InboxFilter filter, Sorted sorted, int limit, Optional<Long> after) {
        if (limit < 1 || limit > LARGEST_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ", but must be 1 to " + LARGEST_PAGE);
        }
        boolean newest = sorted == Sorted.NEWEST_FIRST;
        long from = after.orElse(newest ? Long.MAX_VALUE : Long.MIN_VALUE);
        List<InboxMessage> found =
                read("list messages", connection -> rows.page(connection, filter, newest, limit + 1, from)).stream()
                        .map(InboxRow::message)
                        .toList();
        boolean more = found.size() > limit;
        List<InboxMessage> page = more ? found.subList(0, limit) : found;
        return new InboxMessage.Page(
                page, more ? Optional.of(page.get(page.size() - 1).id()) : Optional.empty());
    }

    /** Everything of one message but its payload; empty if it is not in the queue. */
    public Optional<InboxMessage.Detail> show(long id) {
        return read("show a message", connection -> {
            List<InboxRow> found = rows.read(connection, List.of(id));
            return found.isEmpty() ? Optional.empty() : Optional.of(history.of(connection, found.get(0)));
        });
    }

    /**
     * The number of the message that a list shows with this id, or with this id and a source, if only one source uses it; empty if
     * it is not in the queue. Reads the whole queue.
     */
    public Optional<Long> find(String consumer, String messageId) {
        return read("look for a message", connection -> rows.named(connection, consumer, messageId)).stream()
                .map(row -> row.message().id())
                .findFirst();
    }

    /** The payload, byte for byte. It may hold what not everybody should see. */
    public Optional<byte[]> payload(long id) {
        return read("read a payload", connection -> history.payload(connection, id));
    }

    /** What the message was before each time it was edited, oldest first. */
    public List<InboxRevision> revisions(long id) {
        return read("read revisions", connection -> revisions.of(connection, id));
    }

    /** The payload of an earlier revision, byte for byte. */
    public Optional<byte[]> payload(long id, int revision) {
        return read("read a payload", connection -> revisions.payload(connection, id, revision));
    }

    /**
     * Acts in the name of a person. Both texts go to the audit.
     *
     * @param actor who, at most 200 characters
     * @param reason why, at most 2,000 characters
     */
    public InboxOperator as(String actor, String reason) {
        return new InboxOperator(dataSource, tables, actor, reason);
    }

    private <T> T read(String what, ShortTransactions.Doing<T> reading) {
        return new ShortTransactions(dataSource, tables).once(what, reading);
    }
}
