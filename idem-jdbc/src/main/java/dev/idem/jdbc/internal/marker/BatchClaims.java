package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimAnomalyException;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Claims many keys with one statement, in the order of their bytes, so that two batches with the same keys wait for each
 * other and never in a circle. When a twin of one of them runs elsewhere for too long, the list is claimed in halves, and
 * the halves in halves, until the busy keys stand alone; after some of that, what is left of a busy half is called busy
 * as a whole, which is always safe.
 *
 * <p>Where most of a consumer's last list was there already, as after a rebalance or in a replay, the markers are read
 * before the rest is claimed: a marker that was read says all, and what was not read is claimed as ever.
 */
final class BatchClaims {
    private static final int TRIES = 3;
    private static final int MAX_TIMEOUTS = 24;

    private final BatchKit kit;
    private final Function<MarkerKey, OwnTransaction> begin;
    private final Set<Integer> replayed = ConcurrentHashMap.newKeySet();

    BatchClaims(BatchKit kit, Function<MarkerKey, OwnTransaction> begin) {
        this.kit = kit;
        this.begin = begin;
    }

    Batch claim(int consumer, List<ClaimRequest> requests) {
        List<ClaimRequest> sorted = new ArrayList<>(requests);
        sorted.sort((a, b) -> unsigned(a.key().value(), b.key().value()));
        OwnTransaction transaction = begin.apply(sorted.get(0).key());
        boolean done = false;
        try {
            Map<MarkerKey, Claim> outside = outside(transaction.connection(), sorted);
            sorted.removeIf(request -> outside.containsKey(request.key()));
            Claiming claiming = new Claiming(consumer, transaction);
            try {
                claiming.all(claiming.unknown(sorted), kit.sql().firstWait());
            } catch (SQLException failure) {
                if (!isBusy(failure)) {
                    throw explained(requests, failure);
                }
                transaction.rollBack();
                transaction.reopened();
                claiming = new Claiming(consumer, transaction);
                claiming.halves(sorted);
            }
            Batch batch = claiming.batch(requests, outside);
            done = true;
            return batch;
        } catch (SQLException failure) {
            throw explained(requests, failure);
        } finally {
            if (!done) {
                transaction.close();
            }
        }
    }

    /** Those that no partition takes, which would fail the others with them. */
    private Map<MarkerKey, Claim> outside(Connection connection, List<ClaimRequest> requests) throws SQLException {
        if (!kit.tables().partitioned()) {
            return Map.of();
        }
        Map<MarkerKey, Claim> outside = new LinkedHashMap<>();
        for (ClaimRequest request : requests) {
            kit.partitions().outside(connection, request.key()).ifPresent(claim -> outside.put(request.key(), claim));
        }
        return outside;
    }

    private boolean isBusy(SQLException failure) {
        return kit.faults().isBusy(failure) || failure instanceof TakenUnread;
    }

    /** As the databases sort 16 bytes, so that inserts touch the index in its order. */
    private static int unsigned(UUID a, UUID b) {
        int high = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
        return high != 0 ? high : Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());
    }

    private RuntimeException explained(List<ClaimRequest> requests, SQLException failure) {
        MarkerKey first = requests.get(0).key();
        Optional<TransientStoreException> gone = kit.partitions().missed(failure, first);
        if (gone.isPresent()) {
            return gone.get();
        }
        return SqlFaults.isViolation(failure)
                ? anomaly(first, failure)
                : kit.faults().explained("claim a batch of " + requests.size() + " with", first, failure);
    }

    private ClaimAnomalyException anomaly(MarkerKey key, @Nullable SQLException cause) {
        return new ClaimAnomalyException(
                "The marker of " + key
                        + " was not inserted, and no marker of it can be read: a trigger, a row policy or"
                        + " another unique index on " + kit.tables() + " is in the way. Run 'idem schema validate'",
                cause);
    }

    /** One transaction in the making. */
    private final class Claiming {
        private final int consumer;
        private final OwnTransaction transaction;
        private final Connection connection;
        private final long claimId = ThreadLocalRandom.current().nextLong();
        private final Map<UUID, ClaimRow> rows = new HashMap<>();
        private final Set<UUID> busy = new HashSet<>();
        private boolean first = true;
        private @Nullable SQLException collision;
        private int timeouts;

        Claiming(int consumer, OwnTransaction transaction) {
            this.consumer = consumer;
            this.transaction = transaction;
            this.connection = transaction.connection();
        }

        /**
         * Those to be claimed; in a replay the others were read. What the look has seen must not be all that can be seen
         * afterwards, or a message that is done meanwhile would be found without its result: it is a transaction of its own.
         */
        List<ClaimRequest> unknown(List<ClaimRequest> requests) throws SQLException {
            if (!replayed.contains(consumer)) {
                return requests;
            }
            List<ClaimRequest> unknown = unread(requests);
            if (!unknown.isEmpty()) {
                connection.rollback();
            }
            return unknown;
        }

        void all(List<ClaimRequest> requests, long wait) throws SQLException {
            List<ClaimRequest> missing = requests;
            for (int i = 0; i < TRIES && !missing.isEmpty(); i++) {
                if (i == 0 || kit.takenCodes().isEmpty()) {
                    insert(missing, wait);
                } else {
                    // One of many failed, and nobody said which: a taken one, or one that is busy elsewhere.
                    for (ClaimRequest one : missing) {
                        insert(List.of(one), wait);
                    }
                }
                missing = unanswered(requests);
                if (!missing.isEmpty()) {
                    missing = unread(missing);
                }
                // What is still missing was removed this moment, or is newer than our snapshot. Look again.
            }
            if (!missing.isEmpty() && collision != null) {
                throw new TakenUnread(collision);
            }
            if (!missing.isEmpty()) {
                throw anomaly(missing.get(0).key(), null);
            }
        }

        private void insert(List<ClaimRequest> requests, long wait) throws SQLException {
            boolean opening = first;
            first = false;
            Savepoint before = kit.takenCodes().isEmpty() ? null : connection.setSavepoint();
            try (LockTimeout restored = LockTimeout.of(connection, kit.sql(), wait)) {
                rows.putAll(kit.markers().claim(connection, consumer, requests, opening, claimId, wait));
            } catch (SQLException failure) {
                if (!kit.takenCodes().contains(failure.getErrorCode())) {
                    throw failure;
                }
                // The rows before the one that failed stay otherwise, and would be read as somebody's markers.
                connection.rollback(before);
                first = opening;
                collision = failure;
            }
        }

        /** Reads the markers of these; answers those that have none that can be read. */
        private List<ClaimRequest> unread(List<ClaimRequest> requests) throws SQLException {
            rows.putAll(kit.markers()
                    .read(
                            connection,
                            consumer,
                            requests.stream().map(ClaimRequest::key).toList()));
            return unanswered(requests);
        }

        private List<ClaimRequest> unanswered(List<ClaimRequest> requests) {
            return requests.stream()
                    .filter(request -> !rows.containsKey(request.key().value()))
                    .toList();
        }

        void halves(List<ClaimRequest> requests) throws SQLException {
            boolean opening = first;
            Savepoint before = connection.setSavepoint();
            try {
                // Not released: some databases would release the savepoints behind it as well, among them the guard.
                all(requests, kit.sql().laterWait());
            } catch (SQLException failure) {
                if (!isBusy(failure)) {
                    throw failure;
                }
                collision = null;
                connection.rollback(before);
                first = opening; // what the first statement brings along is undone with it
                requests.forEach(request -> rows.remove(request.key().value()));
                timeouts++;
                if (requests.size() == 1 || timeouts > MAX_TIMEOUTS) {
                    requests.forEach(request -> busy.add(request.key().value()));
                } else {
                    halves(requests.subList(0, requests.size() / 2));
                    halves(requests.subList(requests.size() / 2, requests.size()));
                }
            }
        }

        Batch batch(List<ClaimRequest> requests, Map<MarkerKey, Claim> outside) throws SQLException {
            Map<MarkerKey, Claim> refused = new LinkedHashMap<>(outside);
            Map<MarkerKey, ClaimRow> granted = new LinkedHashMap<>();
            for (ClaimRequest request : requests) {
                MarkerKey key = request.key();
                ClaimRow row = rows.get(key.value());
                if (outside.containsKey(key)) {
                    continue;
                }
                if (row == null) {
                    refused.put(key, new Claim.Busy());
                } else if (row.granted()) {
                    granted.put(key, row);
                } else {
                    refused.put(
                            key,
                            new Claim.Taken(row.marker(
                                    request.withResult() ? kit.single().readResult(connection, consumer, key) : null)));
                }
            }
            if (refused.size() > granted.size()) {
                replayed.add(consumer);
            } else {
                replayed.remove(consumer);
            }
            if (isReplaced(granted.values())) {
                throw new SQLException(
                        "The transaction was replaced while it claimed, so some claims are lost", "40001");
            }
            Horizons.Look look = kit.single().horizons().look(consumer);
            return new JdbcBatch(kit, transaction, new MarkerLedger(kit, consumer, granted, look), refused);
        }

        private boolean isReplaced(Collection<ClaimRow> granted) {
            ClaimRow first = null;
            for (ClaimRow row : granted) {
                first = first == null ? row : first;
                if (!Objects.equals(first.token(), row.token())) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A key is taken, but its marker cannot be read: it is not committed yet. */
    private static final class TakenUnread extends SQLException {
        private static final long serialVersionUID = 1L;

        TakenUnread(SQLException collision) {
            super(collision);
        }
    }
}
