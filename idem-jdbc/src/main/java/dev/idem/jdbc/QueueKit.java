package dev.idem.jdbc;

/** What all batches of stored messages share. Stateless. */
record QueueKit(
        BatchKit batches,
        Queue queue,
        QueueLines lines,
        QueueIntake intake,
        QueueChanges changes,
        Archive archive,
        StreamQueue streams) {
    static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        QueueLines lines = new QueueLines(tables);
        return new QueueKit(
                batches,
                new Queue(tables),
                lines,
                new QueueIntake(tables, lines),
                new QueueChanges(tables),
                new Archive(tables),
                new StreamQueue(tables, lines));
    }
}
