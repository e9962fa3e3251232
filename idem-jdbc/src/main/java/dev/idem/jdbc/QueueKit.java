package dev.idem.jdbc;

/** What all batches of stored messages share. Stateless. */
record QueueKit(BatchKit batches, Queue queue, QueueChanges changes, Archive archive) {
    static QueueKit of(BatchKit batches) {
        Tables tables = batches.tables();
        return new QueueKit(batches, new Queue(tables), new QueueChanges(tables), new Archive(tables));
    }
}
