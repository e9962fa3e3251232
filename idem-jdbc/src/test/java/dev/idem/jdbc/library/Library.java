package dev.idem.jdbc.library;

import dev.idem.Transaction;

/** A data library as an application has it: set up once, used in handlers. */
interface Library extends AutoCloseable {
    /** The library in a handler that reaches the transaction in the given way. */
    Access in(Transaction tx, Way way) throws Exception;

    @Override
    default void close() {}

    /** How a handler's library finds Idem's transaction. */
    enum Way {
        /** On {@code tx.connection()}. */
        CONNECTION,
        /** On {@code tx.dataSource()}. */
        UNIT_DATA_SOURCE,
        /** On {@code store.dataSource()}, since start-up. */
        STORE_DATA_SOURCE
    }

    /** What a handler does with it. */
    interface Access {
        /** Inserts without asking the library for a transaction. */
        void pay(String order) throws Exception;

        /** Inserts in a transaction of the library's own; what the body throws rolls that back and comes out. */
        void payInTransaction(String order, Body body) throws Exception;
    }

    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }
}
