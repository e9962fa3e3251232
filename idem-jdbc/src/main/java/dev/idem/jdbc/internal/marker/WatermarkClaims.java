package dev.idem.jdbc.internal.marker;

import dev.idem.Position;
import dev.idem.jdbc.internal.guard.OwnTransaction;
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
 * Claims positions: locks the watermarks of their partitions, always in the same order, for the length of the transaction. A
 * zombie and its successor meet at this lock, and whoever comes second finds the watermark moved.
 */
final class WatermarkClaims {
    private final BatchKit kit;
    private final Watermarks watermarks;
    private final Function<MarkerKey, OwnTransaction> begin;

    WatermarkClaims(BatchKit kit, Function<MarkerKey, OwnTransaction> begin) {
        this.kit = kit;
        this.watermarks = new Watermarks(kit.tables());
        this.begin = begin;
    }

    Watermarks watermarks() {
        return watermarks;
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
            return new JdbcBatch(kit, transaction, new WatermarkLedger(watermarks, consumer, 0), refused);
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
        WatermarkLedger ledger = new WatermarkLedger(
                watermarks, consumer, ThreadLocalRandom.current().nextLong());
        Map<Place, Watermark> locked = new LinkedHashMap<>();
        for (Map.Entry<Place, PositionRequest> place : places.entrySet()) {
            locked.put(
                    place.getKey(),
                    watermarks.lock(
                            transaction.connection(),
                            consumer,
                            place.getValue().position(),
                            ledger.claimId(),
                            place.getValue().busyWait(),
                            locked.isEmpty()));
        }
        Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
        Watermark watermark = null;
        last = null;
        for (PositionRequest request : requests) {
            if (last == null || !last.has(request.position())) {
                last = Place.of(request.position());
                watermark = locked.get(last);
            }
            if (watermark != null && request.position().offset() <= watermark.position()) {
                refused.put(
                        request.key(),
                        new Claim.Taken(watermark.marker(request.key().readable())));
            } else if (watermark != null) {
                ledger.grant(request, watermark);
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
