package dev.idem.jdbc;

/** What all batches of stored messages share. Stateless. */
record QueueKit(BatchKit batches, Queue queue, QueueChanges changes, Archive archive, StreamQueue streams) {
    static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        Queue queue = new Queue(tables);
        return new QueueKit(
                batches, queue, new QueueChanges(tables), new Archive(tables), new StreamQueue(tables, queue));
    }
}
