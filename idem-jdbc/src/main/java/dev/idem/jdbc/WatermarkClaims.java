package dev.idem.jdbc;

import dev.idem.Position;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.PositionRequest;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Claims positions: locks the marks of their partitions, always in the same order, for the length of the transaction. A
 * zombie and its successor meet at this lock, and whoever comes second finds the mark moved.
 */
final class WatermarkClaims {
    private final BatchKit kit;
    private final Marks marks;
    private final Function<MarkerKey, OwnTransaction> begin;

    WatermarkClaims(BatchKit kit, Function<MarkerKey, OwnTransaction> begin) {
        this.kit = kit;
        this.marks = new Marks(kit.tables());
        this.begin = begin;
    }

    Marks marks() {
        return marks;
    }

    Batch claim(int consumer, List<PositionRequest> requests) {
        PositionRequest first = requests.get(0);
        OwnTransaction transaction = begin.apply(first.key());
        boolean done = false;
        try {
            Batch batch = locked(consumer, requests, transaction);
            done = true;
            return batch;
        } catch (SQLException failure) {
            if (!kit.faults().isBusy(failure)) {
                throw kit.faults().explained("lock the mark for", first.key(), failure);
            }
            transaction.rollBack();
            Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
            requests.forEach(request -> refused.put(request.key(), new Claim.Busy()));
            done = true;
            return new JdbcBatch(kit, transaction, new WatermarkLedger(marks, consumer, 0), refused);
        } finally {
            if (!done) {
                transaction.close();
            }
        }
    }

    private Batch locked(int consumer, List<PositionRequest> requests, OwnTransaction transaction) throws SQLException {
        Map<Place, PositionRequest> places =
                new TreeMap<>(Comparator.comparing(Place::stream).thenComparing(Place::partition));
        Place last = null;
        for (PositionRequest request : requests) {
            if (last == null || !last.has(request.position())) {
                last = Place.of(request.position());
                places.putIfAbsent(last, request);
            }
        }
        WatermarkLedger ledger =
                new WatermarkLedger(marks, consumer, ThreadLocalRandom.current().nextLong());
        Map<Place, Mark> locked = new LinkedHashMap<>();
        for (Map.Entry<Place, PositionRequest> place : places.entrySet()) {
            locked.put(
                    place.getKey(),
                    marks.lock(
                            transaction.connection(),
                            consumer,
                            place.getValue().position(),
                            ledger.claimId(),
                            place.getValue().busyWait(),
                            locked.isEmpty()));
        }
        Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
        Mark mark = null;
        last = null;
        for (PositionRequest request : requests) {
            if (last == null || !last.has(request.position())) {
                last = Place.of(request.position());
                mark = locked.get(last);
            }
            if (mark != null && request.position().offset() <= mark.position()) {
                refused.put(
                        request.key(), new Claim.Taken(mark.marker(request.key().readable())));
            } else if (mark != null) {
                ledger.grant(request, mark);
            }
        }
        return new JdbcBatch(kit, transaction, ledger, refused);
    }

    private record Place(String stream, int partition) {
        static Place of(Position position) {
            return new Place(position.stream(), position.partition());
        }

        boolean has(Position position) {
            return partition == position.partition() && stream.equals(position.stream());
        }
    }
}
