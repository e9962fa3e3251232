package dev.idem.test;

import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.MarkerStoreContract;

class MemoryStoreContractTest extends MarkerStoreContract {
    private final MemoryStore store = new MemoryStore();

    @Override
    protected MarkerStore store() {
        return store;
    }

    @Override
    protected MarkerStore unrelatedStore() {
        return new MemoryStore();
    }
}
