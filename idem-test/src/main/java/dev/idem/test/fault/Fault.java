package dev.idem.test.fault;

/** What goes wrong at the JDBC call a {@link FaultyDataSource} is armed for. */
public enum Fault {
    /** The call is not made and fails with SQLState {@code XX000}; the connection stays usable. */
    EXCEPTION_BEFORE,

    /** The call is made, and then fails with SQLState {@code XX000}; the connection stays usable. */
    EXCEPTION_AFTER,

    /**
     * The connection is torn before the call, which fails with SQLState {@code 08006}; the open transaction is lost.
     */
    CONNECTION_LOST_BEFORE,

    /**
     * The call is made on the server, then the connection is torn and the caller gets SQLState {@code 08006}. At a
     * commit, or at an {@code execute} whose text ends in {@code COMMIT}, this is the unknown commit: done, but the
     * caller is told of a failure.
     */
    CONNECTION_LOST_AFTER,

    /**
     * The open transaction is rolled back and the call then goes on as if nothing had happened, like a driver that
     * reconnects quietly or a database that rolled back after an error somebody swallowed.
     */
    SILENT_ROLLBACK,

    /** The call is not made and an {@link InjectedError} is thrown, which no {@code catch (Exception e)} sees. */
    ERROR
}
