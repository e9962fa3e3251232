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
        LargeMessages large,
        LateMarkers late) {
    static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        LargeMessages large = new LargeMessages(tables);
        QueueLines lines = new QueueLines(tables, large);
        return new QueueKit(
                batches,
                new Queue(tables, large),
                lines,
                new QueueIntake(tables, lines, batches.size()),
                new QueueChanges(tables),
                new Archive(tables),
                new StreamQueue(tables),
                large,
                new LateMarkers(tables, batches.single().horizons()));
    }
}
