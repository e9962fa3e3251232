package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.BatchLedger;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Records what is done by removing it from the queue; its marker was there before. Those that failed are moved in the
 * same transaction. Whoever lost a message to another worker cannot commit: the fence has grown.
 */
final class QueueLedger implements BatchLedger {
    private static final Logger log = StoreLog.LOG;

    private final QueueKit kit;
    private final int consumer;
    private final QueueStore.Taking taking;
    private final long claimId;
    private final @Nullable String token;
    private final NoteConnection notes;
    private final Map<MarkerKey, QueuedMessage> messages = new LinkedHashMap<>();
    private final List<QueueChange> changes = new ArrayList<>();
    private Set<MarkerKey> done = Set.of();
    private Map<String, Long> moved = Map.of();
    private StreamQueue.Released released = StreamQueue.Released.NOTHING;

    /** @param notes to ask on when the connection of the transaction is lost */
    QueueLedger(
            QueueKit kit,
            int consumer,
            QueueStore.Taking taking,
            long claimId,
            @Nullable String token,
            NoteConnection notes,
            List<QueuedMessage> granted) {
        this.kit = kit;
        this.consumer = consumer;
        this.taking = taking;
        this.claimId = claimId;
        this.token = token;
        this.notes = notes;
        granted.forEach(message -> messages.put(message.key(), message));
    }

    /** Which messages' work is in the transaction; all others stay in the queue, whatever became of them. */
    void done(Set<MarkerKey> keys) {
        done = keys;
    }

    /** Which streams the transaction has moved, and to where: what waits for that is released in the same commit. */
    void moved(Map<String, Long> streams) {
        moved = streams;
    }

    /** What could not be released is released later. */
    void committed() {
        kit.passedOver().add(consumer, released.passedOver());
    }

    void change(QueueChange change) {
        changes.add(change);
    }

    @Override
    public int consumer() {
        return consumer;
    }

    @Override
    public Collection<MarkerKey> granted() {
        return messages.keySet();
    }

    @Override
    public String claimId(MarkerKey key) {
        return Long.toString(claimId);
    }

    @Override
    public @Nullable String token() {
        return token;
    }

    @Override
    public void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        kit.batches().markers().storeResults(connection, consumer, results);
        for (QueueChange change : changes) {
            if (!kit.changes().make(connection, consumer, taking, change)) {
                throw new SQLException("A message belongs to another worker now", "40001");
            }
        }
        released = kit.streams()
                .release(
                        connection,
                        consumer,
                        moved,
                        completed().stream().map(QueuedMessage::id).collect(Collectors.toSet()));
        close(connection, completed());
    }

    /** What their completion means for their markers and copies; before they leave the queue. */
    private void close(Connection connection, List<QueuedMessage> completed) throws SQLException {
        kit.late().move(connection, consumer, completed);
        if (!taking.keepFor().isZero()) {
            kit.archive().keep(connection, completed, taking.keepFor());
        }
    }

    @Override
    public void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException {
        kit.queue().completeAndCommit(connection, completed(), token, claimId);
    }

    private List<QueuedMessage> completed() {
        return messages.values().stream()
                .filter(message -> done.contains(message.key()))
                .toList();
    }

    @Override
    public boolean isCommitted(Connection connection) throws SQLException {
        return kit.queue().isCommitted(connection, token, claimId);
    }

    /** A stored message had its marker before it ran, so no claim to come would tell. */
    @Override
    public boolean isCommittedBeside() {
        try {
            return notes.execute(c -> isCommitted(c) ? 1 : 0) == 1;
        } catch (SQLException away) {
            log.debug("{}: what became of a lost transaction cannot be seen", taking.consumer(), away);
            return false;
        }
    }

    @Override
    public void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException {
        List<QueuedMessage> ended = messages.values().stream()
                .filter(message -> done.contains(message.key()))
                .toList();
        Set<Long> own = ended.isEmpty()
                ? Set.of()
                : kit.queue().open(connection, ended, false).keySet();
        close(connection, ended.stream().filter(m -> own.contains(m.id())).toList());
        for (QueuedMessage message : messages.values()) {
            boolean isDone = done.contains(message.key());
            QueueMove move = isDone ? QueueMove.COMPLETE : QueueMove.PARK;
            boolean ran = isDone || culprits.contains(message.key());
            if (ran && !kit.changes().make(connection, consumer, taking, change(message, move))) {
                log.error(
                        "{}: its effect was committed from inside a handler, and another worker has it now",
                        message.key());
            }
        }
        kit.queue().ended(connection, claimId);
    }

    private static QueueChange change(QueuedMessage message, QueueMove move) {
        return new QueueChange(message, move, Duration.ZERO, "BROKEN", null);
    }
}
