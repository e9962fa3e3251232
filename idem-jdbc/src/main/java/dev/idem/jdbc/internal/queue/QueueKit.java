package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.BatchKit;
import dev.idem.jdbc.internal.sql.Tables;

/** What all batches of stored messages share. Thread-safe. */
public record QueueKit(
        BatchKit batches,
        Queue queue,
        OrderingKeys lines,
        QueueIntake intake,
        QueueChanges changes,
        Archive archive,
        StreamQueue streams,
        PassedOver passedOver,
        LargeMessages large,
        LateMarkers late) {
    public static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        LargeMessages large = new LargeMessages(tables);
        OrderingKeys lines = new OrderingKeys(tables, large);
        StreamQueue streams = new StreamQueue(tables);
        return new QueueKit(
                batches,
                new Queue(tables, large),
                lines,
                new QueueIntake(tables, lines, batches.size()),
                new QueueChanges(tables),
                new Archive(tables),
                streams,
                new PassedOver(streams),
                large,
                new LateMarkers(tables, batches.single().horizons()));
    }
}
