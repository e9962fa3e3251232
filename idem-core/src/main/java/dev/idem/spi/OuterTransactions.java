package dev.idem.spi;

import java.sql.Connection;
import java.util.Optional;

/**
 * The transactions that a framework keeps for its users, seen from the calling thread. A store that is given them can
 * refuse to open a second transaction beside one of them, and can leave it to the framework that one which a failed
 * message had joined is not committed. Thread-safe.
 */
public interface OuterTransactions {
    /** Nobody keeps any. */
    OuterTransactions NONE = new OuterTransactions() {
        @Override
        public Optional<String> openHere() {
            return Optional.empty();
        }

        @Override
        public boolean rollbackOnly(Connection connection) {
            return false;
        }
    };

    /**
     * What is open on this thread that writes to the store's database, in words for the end of a sentence: "Spring's
     * transaction billing", say. Empty if nothing is.
     */
    Optional<String> openHere();

    /**
     * Whether the transaction that is open here is the one of this connection. If not, no message may join the connection
     * here: what its handler writes by the framework would be in the other transaction. A framework that cannot tell says
     * yes.
     */
    default boolean isOpenOn(Connection connection) {
        return true;
    }

    /**
     * Makes the transaction of this connection one that can only be rolled back, so that its owner's commit fails. False if
     * it is not the transaction of this thread, or nobody's business here.
     */
    boolean rollbackOnly(Connection connection);
}
