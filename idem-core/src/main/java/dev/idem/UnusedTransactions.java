package dev.idem;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.Unit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notices handlers that sent nothing through their transaction: their effects are somewhere else, and unprotected. */
final class UnusedTransactions {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final Events events;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    UnusedTransactions(Events events) {
        this.events = events;
    }

    void check(Policy policy, MarkerKey key, Unit unit) {
        if (unit.used() || policy.unusedTransaction() == Policy.UnusedTransaction.ALLOW) {
            return;
        }
        String advice = "sent nothing through its transaction, so its effects are not protected: use tx.connection() or"
                + " tx.dataSource(), or say unusedTransaction=ALLOW";
        if (policy.unusedTransaction() == Policy.UnusedTransaction.REFUSE && !policy.observeOnly()) {
            throw new BrokenTransactionException("Handler of " + key + " " + advice, false, null);
        }
        events.tell(l -> l.transactionUnused(key.consumer()));
        if (warned.add(key.consumer())) {
            log.warn("{}: its handler {}", key.consumer(), advice);
        }
    }
}
