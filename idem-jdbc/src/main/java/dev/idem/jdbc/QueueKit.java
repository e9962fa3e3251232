package dev.idem.jdbc;

/** What all batches of stored messages share. Thread-safe. */
record QueueKit(
        BatchKit batches,
        Queue queue,
        QueueLines lines,
        QueueIntake intake,
        QueueChanges changes,
        Archive archive,
        StreamQueue streams,
        PassedOver passedOver,
        LargeMessages large,
        LateMarkers late) {
    static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        LargeMessages large = new LargeMessages(tables);
        QueueLines lines = new QueueLines(tables, large);
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
