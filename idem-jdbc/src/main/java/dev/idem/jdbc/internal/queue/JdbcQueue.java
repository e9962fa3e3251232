package dev.idem.jdbc.internal.queue;

import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.guard.PoolWaits;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.QueueRow;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.queue.QueueState;
import dev.idem.queue.QueueStats;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StepStore;
import dev.idem.spi.StreamVersion;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Keeps messages in a table beside their markers. See {@link QueueSql} for what differs between databases. */
public final class JdbcQueue implements QueueStore.Waking, StepStore {
    private static final Duration POOL_PATIENCE = Duration.ofSeconds(10);

    private final DataSource dataSource;
    private final QueueKit kit;
    private final Function<String, OwnTransaction> begin;
    private final ToIntFunction<String> numbers;
    private final NoteConnection notes;
    private final RunningWorkers workers;
    private final PoolSize pool;
    private final QueueRecovery care;
    private final ParkedInsert parking;
    private final QueueNumbers counts;
    private final DuplicateCounter again;
    private final OutboxRows outbox;
    private final JdbcSteps steps;
    private final @Nullable Notifier notifier;
    private final @Nullable Listener listener;

    /**
     * @param given the pool itself, of which {@code dataSource} hands out the connections
     * @param waits knows who waits for a connection
     * @param numbers answers the number that stands for a consumer
     * @param wakeUp whether instances tell each other what they store, where the database can
     */
    public JdbcQueue(
            DataSource given,
            DataSource dataSource,
            PoolWaits waits,
            QueueKit kit,
            Function<String, OwnTransaction> begin,
            ToIntFunction<String> numbers,
            WakeUp wakeUp) {
        this.dataSource = dataSource;
        this.kit = kit;
        this.begin = begin;
        this.numbers = numbers;
        Tables tables = kit.batches().tables();
        notes = new NoteConnection(dataSource);
        workers = new RunningWorkers(notes, tables);
        care = new QueueRecovery(tables, kit);
        parking = new ParkedInsert(tables, kit);
        counts = new QueueNumbers(tables);
        again = new DuplicateCounter(tables);
        outbox = new OutboxRows(tables);
        steps = new JdbcSteps(kit, notes);
        boolean notifies = wakeUp == WakeUp.NOTIFY && tables.dialect().database() == Database.POSTGRESQL;
        notifier = notifies ? new Notifier(dataSource, Channel.of(tables)) : null;
        listener = notifier != null ? new Listener(dataSource, Channel.of(tables), notifier, notes, waits) : null;
        pool = new PoolSize(given, dataSource, waits, notes, tables.dialect().database(), POOL_PATIENCE);
    }

    @Override
    public void enqueue(Connection connection, Intake intake, List<Message> messages) throws SQLException {
        int consumer = number(intake.consumer());
        kit.batches().single().streams().ensure(connection, consumer, streamsOf(intake, messages));
        kit.intake().insert(connection, consumer, intake, messages);
    }

    /** So that no worker has to make them, which would have to wait for another one that does. */
    private static Set<String> streamsOf(Intake intake, List<Message> messages) {
        Set<String> streams = new TreeSet<>();
        messages.forEach(message ->
                intake.places().of(message).map(StreamVersion::stream).ifPresent(streams::add));
        return streams;
    }

    @Override
    public void publish(UnitOfWork unit, Intake intake, Message message) {
        outbox.defer(unit, number(intake.consumer()), intake, message);
    }

    @Override
    public void park(
            Connection connection, Intake intake, List<Message> messages, String reason, QueueChange.FailedRun run)
            throws SQLException {
        parking.park(connection, number(intake.consumer()), intake, messages, reason, run);
    }

    @Override
    public void prepare(String consumer, int workers) {
        pool.check(consumer, workers);
        kit.large().sharedBy(workers);
    }

    @Override
    public Optional<QueueBatch> take(Taking taking) {
        letGoPassedOver(taking.consumer());
        try {
            return Transactions.untilThrough(faults(), () -> takeOnce(taking));
        } catch (SQLException failure) {
            throw explained("take messages of", taking.consumer(), failure);
        }
    }

    private void letGoPassedOver(String consumer) {
        int number = number(consumer);
        List<Long> ids = kit.passedOver().of(number);
        if (!ids.isEmpty()) {
            List<Long> held = alone("release messages of", consumer, connection -> {
                kit.queue().isolate(connection);
                return kit.passedOver().letGo(connection, ids);
            });
            kit.passedOver().keep(number, ids, held);
        }
    }

    private Optional<QueueBatch> takeOnce(Taking taking) throws SQLException {
        number(taking.consumer());
        notes.ready(); // while nothing is held
        OwnTransaction transaction = begin.apply(taking.consumer());
        List<QueueRow> all;
        List<QueueRow> fitting;
        boolean done = false;
        try {
            long claimId = ThreadLocalRandom.current().nextLong();
            kit.queue().begin(transaction.connection(), claimId);
            all = runnable(taken(transaction.connection(), taking));
            fitting = kit.large().fitting(all);
            List<QueueRow> rows =
                    fitting.size() < all.size() ? List.of() : kit.large().read(transaction.connection(), fitting);
            if (!rows.isEmpty()) {
                List<QueuedMessage> messages = steps.lookedUp(
                        transaction.connection(),
                        number(taking.consumer()),
                        rows.stream().map(QueueRow::message).toList());
                QueueLedger ledger = new QueueLedger(
                        kit,
                        number(taking.consumer()),
                        taking,
                        claimId,
                        rows.get(0).token(),
                        notes,
                        messages);
                done = true;
                return Optional.of(new StoredBatch(kit.batches(), transaction, ledger, messages, Map.of(), false));
            }
        } finally {
            if (!done) {
                transaction.close();
            }
        }
        // What does not fit is for others, who could not have it before this transaction ends.
        return fitting.size() < all.size() ? takeOnce(taking.limitedTo(fitting.size())) : Optional.empty();
    }

    /** Of an ordered consumer also those behind the heads, which nobody else can take while the heads are locked. */
    private List<QueueRow> taken(Connection connection, Taking taking) throws SQLException {
        List<QueueRow> rows = kit.queue().take(connection, number(taking.consumer()), taking);
        return taking.ordered() ? kit.lines().withFollowers(connection, number(taking.consumer()), taking, rows) : rows;
    }

    /**
     * One that may have ended its process runs alone; the others run up to it. So they do up to one whose key another has: a
     * marker that was removed by hand lets its message in again, and then there are two of them.
     */
    private static List<QueueRow> runnable(List<QueueRow> rows) {
        Set<MarkerKey> keys = new HashSet<>();
        for (int i = 0; i < rows.size(); i++) {
            QueuedMessage message = rows.get(i).message();
            if (message.isSuspect() || !keys.add(message.key())) {
                return rows.subList(0, Math.max(1, i));
            }
        }
        return rows;
    }

    @Override
    public List<QueuedMessage> lease(Taking taking, Duration lease) {
        letGoPassedOver(taking.consumer());
        ready(taking);
        return alone("lease messages of", taking.consumer(), connection -> {
            kit.queue().isolate(connection);
            List<QueueRow> rows = runnable(kit.queue().take(connection, number(taking.consumer()), taking));
            List<QueuedMessage> due = kit.large().read(connection, kit.large().fitting(rows)).stream()
                    .map(QueueRow::message)
                    .toList();
            if (!due.isEmpty()) {
                kit.changes().leaseLocked(connection, taking.name(), due, lease);
            }
            return steps.lookedUp(connection, number(taking.consumer()), due).stream()
                    .map(QueuedMessage::leased)
                    .toList();
        });
    }

    /** Somebody is to renew the leases, and must not have to wait for a connection then. */
    private void ready(Taking taking) {
        try {
            notes.ready();
        } catch (SQLException failure) {
            throw explained("lease messages of", taking.consumer(), failure);
        }
    }

    @Override
    public Optional<QueuedMessage> lease(Taking taking, QueuedMessage message, Duration lease) {
        ready(taking);
        return alone("lease a message of", taking.consumer(), connection -> leased(connection, taking, message, lease));
    }

    private Optional<QueuedMessage> leased(Connection connection, Taking taking, QueuedMessage message, Duration lease)
            throws SQLException {
        QueueChange change = new QueueChange(message, QueueMove.LEASE, lease, "", null);
        int consumer = number(taking.consumer());
        return kit.changes().make(connection, consumer, taking, change)
                ? steps.lookedUp(connection, consumer, List.of(message)).stream()
                        .map(QueuedMessage::leased)
                        .findFirst()
                : Optional.empty();
    }

    @Override
    public QueueBatch open(Taking taking, List<QueuedMessage> messages, boolean leased) {
        number(taking.consumer()); // needs a connection of its own, the first time
        OwnTransaction transaction = begin.apply(taking.consumer());
        boolean done = false;
        try {
            long claimId = ThreadLocalRandom.current().nextLong();
            kit.queue().begin(transaction.connection(), claimId);
            Map<Long, String> found = kit.queue().open(transaction.connection(), messages, leased);
            Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
            List<QueuedMessage> granted = new ArrayList<>();
            for (QueuedMessage message : messages) {
                if (found.containsKey(message.id())) {
                    granted.add(message);
                } else {
                    refused.put(message.key(), new Claim.Busy());
                }
            }
            @Nullable
            String token = granted.isEmpty() ? null : found.get(granted.get(0).id());
            QueueLedger ledger =
                    new QueueLedger(kit, number(taking.consumer()), taking, claimId, token, notes, granted);
            done = true;
            return new StoredBatch(kit.batches(), transaction, ledger, granted, refused, leased);
        } catch (SQLException failure) {
            throw explained("open messages of", taking.consumer(), failure);
        } finally {
            if (!done) {
                transaction.close();
            }
        }
    }

    @Override
    public int renew(Taking taking, List<QueuedMessage> leased, Duration lease) {
        return workers.renew(leased, lease);
    }

    @Override
    public int change(Taking taking, List<QueueChange> changes) {
        return alone("settle messages of", taking.consumer(), connection -> {
            int made = 0;
            for (QueueChange change : changes) {
                made += kit.changes().make(connection, number(taking.consumer()), taking, change) ? 1 : 0;
            }
            return made;
        });
    }

    @Override
    public List<StepRecord> steps(Taking taking, MarkerKey key) {
        return alone("read the steps of", taking.consumer(), c -> steps.read(c, number(taking.consumer()), key));
    }

    @Override
    public Batch openStep(Taking taking, QueuedMessage message, StepRecord step) {
        number(taking.consumer());
        OwnTransaction transaction = begin.apply(taking.consumer());
        boolean done = false;
        try {
            Batch batch = steps.open(transaction, number(taking.consumer()), taking, message, step);
            done = true;
            return batch;
        } catch (SQLException failure) {
            throw kit.batches().faults().explained("open a step of", message.key(), failure);
        } finally {
            if (!done) {
                transaction.close();
            }
        }
    }

    @Override
    public Intended intend(
            Taking taking, QueuedMessage message, MarkerKey ledger, StepRecord intent, @Nullable StepRecord found) {
        int number = number(taking.consumer());
        return alone(
                "record the intent of an effect of",
                taking.consumer(),
                c -> steps.intend(c, number, message, ledger, intent, found));
    }

    @Override
    public boolean isLeased(Taking taking, StepRecord effect) {
        return alone("look who is making an effect of", taking.consumer(), c -> steps.isLeased(c, effect));
    }

    @Override
    public boolean write(Taking taking, QueuedMessage message, MarkerKey ledger, StepRecord effect) {
        int number = number(taking.consumer());
        return alone("record an effect of", taking.consumer(), c -> steps.write(c, number, message, ledger, effect));
    }

    @Override
    public boolean erase(Taking taking, QueuedMessage message, MarkerKey ledger, String name) {
        int number = number(taking.consumer());
        return alone("take back an effect of", taking.consumer(), c -> steps.erase(c, number, message, ledger, name));
    }

    @Override
    public boolean complete(Taking taking, QueuedMessage message) {
        int number = number(taking.consumer());
        return alone("complete a message of", taking.consumer(), c -> steps.complete(c, number, taking, message));
    }

    @Override
    public Optional<Duration> nextDue(String consumer) {
        return alone("look at the messages of", consumer, connection -> counts.nextDue(connection, number(consumer)));
    }

    @Override
    public void running(Taking taking, List<QueuedMessage> messages) {
        workers.running(number(taking.consumer()), taking, messages);
    }

    @Override
    public void gone(Taking taking) {
        workers.gone(taking);
    }

    @Override
    public int release(String consumer, Collection<String> orderingKeys) {
        List<UUID> orders = orderingKeys.stream().map(Hashes::uuid).toList();
        return alone(
                "release messages of",
                consumer,
                connection -> kit.lines().release(connection, number(consumer), orders));
    }

    @Override
    public int recover(String consumer) {
        workers.refresh(consumer);
        return alone("look after messages of", consumer, connection -> care.recover(connection, number(consumer)));
    }

    @Override
    public Map<MarkerKey, QueueState> seenAgain(String consumer, Collection<MarkerKey> keys, boolean counted) {
        return alone("look for duplicates of", consumer, connection -> {
            int number = number(consumer);
            return counted ? again.counted(connection, number, keys) : again.found(connection, number, keys);
        });
    }

    @Override
    public QueueStats stats(String consumer) {
        return alone("count messages of", consumer, connection -> counts.stats(connection, consumer, number(consumer)));
    }

    @Override
    public boolean isFull(String consumer, long cap) {
        return alone("count messages of", consumer, connection -> counts.isFull(connection, number(consumer), cap));
    }

    @Override
    public void wakeOthers(String consumer) {
        if (notifier != null) {
            notifier.send(number(consumer));
        }
    }

    @Override
    public void onWake(String consumer, Runnable bell) {
        if (listener != null) {
            listener.onWake(number(consumer), bell);
        }
    }

    private int number(String consumer) {
        return numbers.applyAsInt(consumer);
    }

    public void close() {
        pool.close();
        if (listener != null) {
            listener.close();
        }
        if (notifier != null) {
            notifier.close();
        }
        notes.end();
    }

    private <T> T alone(String what, String consumer, Doing<T> body) {
        number(consumer); // needs a connection of its own, the first time
        try {
            return Transactions.untilThrough(faults(), () -> {
                try (Connection connection = dataSource.getConnection()) {
                    return Transactions.alone(connection, () -> body.run(connection));
                }
            });
        } catch (SQLException failure) {
            throw explained(what, consumer, failure);
        }
    }

    private SqlFaults faults() {
        return kit.batches().faults();
    }

    private StoreException explained(String what, String consumer, SQLException failure) {
        return faults().explained(what, consumer, failure);
    }

    @FunctionalInterface
    private interface Doing<T> {
        T run(Connection connection) throws SQLException;
    }
}
