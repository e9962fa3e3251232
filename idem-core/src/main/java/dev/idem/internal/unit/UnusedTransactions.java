package dev.idem.internal.unit;

import dev.idem.BrokenTransactionException;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.internal.event.Events;
import dev.idem.spi.MarkerKey;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notices handlers that sent nothing through their transaction: their effects are somewhere else, and unprotected. */
public final class UnusedTransactions {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final Events events;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    UnusedTransactions(Events events) {
        this.events = events;
    }

    /** @param used whether it has sent something through it, published something, or said that there is nothing to do */
    public void check(Policy policy, MarkerKey key, boolean used) {
        if (used || policy.unusedTransaction() == Policy.UnusedTransaction.ALLOW) {
            return;
        }
        String advice = "sent nothing through its transaction, so its effects are not protected: use tx.connection(),"
                + " tx.dataSource() or store.dataSource(). Where they went to a transaction of your own or of a framework that"
                + " is open on this thread, make the message a part of it with inbox.within(connection); and let the store"
                + " know of the framework's transactions, by outerTransactions(…) of its builder, to have them noticed. Say"
                + " tx.nothingToDo() where a message needs no effect, and unusedTransaction=ALLOW for a consumer whose"
                + " effects are all elsewhere";
        if (policy.unusedTransaction() == Policy.UnusedTransaction.REFUSE && !policy.observeOnly()) {
            throw new BrokenTransactionException("Handler of " + key + " " + advice, false, null);
        }
        events.tell(l -> l.transactionUnused(key.consumer()));
        if (warned.add(key.consumer())) {
            log.warn("{}: its handler {}", key.consumer(), advice);
        }
    }
}
