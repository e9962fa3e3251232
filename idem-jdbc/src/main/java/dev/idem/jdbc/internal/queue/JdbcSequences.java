package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.marker.StreamRows;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.sequence.Gap;
import dev.idem.spi.SequenceStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import javax.sql.DataSource;

/** Looks at gaps, and closes them without what is missing: under the lock of the stream, with an entry in the audit. */
public final class JdbcSequences implements SequenceStore {
    private final ShortTransactions transactions;
    private final SqlFaults faults;
    private final Tables tables;
    private final StreamRows rows;
    private final Queue messages;
    private final StreamQueue queue;
    private final AuditRows audit;

    public JdbcSequences(DataSource dataSource, Tables tables) {
        transactions = new ShortTransactions(dataSource, tables);
        faults = new SqlFaults(tables.dialect().faults());
        this.tables = tables;
        rows = new StreamRows(tables);
        messages = new Queue(tables, new LargeMessages(tables));
        queue = new StreamQueue(tables);
        audit = new AuditRows(tables);
    }

    @Override
    public List<Gap> gaps(String consumer, int limit) {
        return transactions.once("look for gaps", connection -> {
            Optional<Integer> number = number(connection, consumer);
            return number.isEmpty() ? List.of() : queue.gaps(connection, consumer, number.get(), limit);
        });
    }

    @Override
    public Optional<Gap> gap(String consumer, String stream) {
        return transactions.once("look for a gap", connection -> found(connection, consumer, stream));
    }

    private Optional<Gap> found(Connection connection, String consumer, String stream) throws SQLException {
        Optional<Integer> number = number(connection, consumer);
        return number.isEmpty()
                ? Optional.empty()
                : queue.gap(connection, consumer, number.get(), stream).stream().findFirst();
    }

    @Override
    public Optional<Integer> pass(Gap seen, long next, Deed deed) {
        return locked(seen, "pass a gap", (connection, number) -> {
            rows.move(connection, number, Map.of(seen.stream(), next - 1));
            record(connection, number, deed, seen, "from version " + seen.missing() + " to " + (next - 1));
            return queue.release(connection, number, Map.of(seen.stream(), next - 1), Set.of())
                    .count();
        });
    }

    @Override
    public Optional<Integer> park(Gap seen, Deed deed) {
        return locked(seen, "park a stream", (connection, number) -> {
            record(connection, number, deed, seen, "waits for version " + seen.missing());
            return queue.park(connection, number, seen.stream(), seen.next());
        });
    }

    /** Only if nothing has changed about the gap, and nobody is working on the stream. */
    private Optional<Integer> locked(Gap seen, String what, Doing doing) {
        return transactions.once(what, connection -> {
            messages.isolate(connection); // what was held while the lock was waited for must be seen
            Optional<Integer> number = number(connection, seen.consumer());
            if (number.isEmpty()) {
                return Optional.empty();
            }
            Map<String, OptionalLong> held =
                    rows.lock(connection, faults, number.get(), List.of(seen.stream()), Duration.ZERO);
            boolean same =
                    OptionalLong.of(seen.current()).equals(held.getOrDefault(seen.stream(), OptionalLong.empty()))
                            && found(connection, seen.consumer(), seen.stream())
                                    .filter(now -> now.next() == seen.next())
                                    .isPresent();
            return same ? Optional.of(doing.in(connection, number.get())) : Optional.empty();
        });
    }

    private void record(Connection connection, int number, Deed deed, Gap gap, String what) throws SQLException {
        String detail = "stream " + StoredText.storable(gap.stream()) + ": " + what;
        audit.write(connection, new AuditRows.Entry(number, null, deed.action(), deed.actor(), deed.reason(), detail));
    }

    private Optional<Integer> number(Connection connection, String consumer) throws SQLException {
        return KnownConsumer.number(connection, tables, consumer);
    }

    @FunctionalInterface
    private interface Doing {
        int in(Connection connection, int consumer) throws SQLException;
    }
}
