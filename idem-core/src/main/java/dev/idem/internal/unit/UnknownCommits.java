package dev.idem.internal.unit;

import dev.idem.CommitRefusedException;
import dev.idem.StoreException;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.TransientStoreException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which messages lost the connections of their transactions. A loss alone is nobody's fault. A message that
 * loses one transaction after the other, each after a claim that was granted, ends them itself: with a statement that is
 * larger than the server takes, say, or a pause that is longer than it waits. Then it counts as the message's own
 * failure, so that it is set aside some day.
 *
 * <p>A commit of which nobody knows what became of it counts when the next claim is granted, and not before: only that
 * proves that it was undone. A claim that loses its connection says that the store is away, and all is forgotten.
 * Thread-safe.
 */
public final class UnknownCommits {
    /** So many in a row are no coincidence. */
    static final int LIMIT = 3;

    private static final int MOST_KEYS = 500;

    private final Map<MarkerKey, Loss> inARow = new LinkedHashMap<>();

    /** Read without the lock, because nearly always there is nothing to look up. */
    private volatile boolean any;

    /** @param unknown the last commit, if nobody knows yet what became of it */
    private record Loss(int count, @Nullable CommitUnknownException unknown) {}

    /** A claim that fails for want of a connection says that the store is away. */
    Claim claim(MarkerStore store, ClaimRequest request) {
        return asked(store, () -> store.claim(request));
    }

    /** The same for any way to claim. */
    public <T> T asked(MarkerStore store, Supplier<T> claiming) {
        try {
            return claiming.get();
        } catch (StoreException away) {
            if (!(away instanceof TransientStoreException) || store.isConnectionLost(away)) {
                outage();
            }
            throw away;
        }
    }

    /** A transaction was surely undone, by a lost connection. True when the message is to blame for that. */
    public synchronized boolean undone(MarkerKey key) {
        int count = count(key) + 1;
        note(key, new Loss(count, null));
        return count >= LIMIT;
    }

    public synchronized void unknown(MarkerKey key, CommitUnknownException lost) {
        note(key, new Loss(count(key), lost));
    }

    /** The key was granted, so a commit of before was undone. Answers why it must not run again in this delivery, if so. */
    @Nullable
    public CommitRefusedException granted(MarkerKey key) {
        return any ? proven(key) : null;
    }

    private synchronized @Nullable CommitRefusedException proven(MarkerKey key) {
        Loss loss = inARow.get(key);
        CommitUnknownException unknown = loss == null ? null : loss.unknown;
        return unknown != null && (undone(key) || unknown.answered()) ? undoneCommit(key, unknown) : null;
    }

    public boolean isEmpty() {
        return !any;
    }

    /** The message came to an end that has nothing to do with connections. */
    public void forget(MarkerKey key) {
        if (any) {
            forgetNow(key);
        }
    }

    private synchronized void forgetNow(MarkerKey key) {
        inARow.remove(key);
        any = !inARow.isEmpty();
    }

    /** The store is away: nobody is to blame for what was lost until now, unless its commit is still in question. */
    synchronized void outage() {
        inARow.values().removeIf(loss -> loss.unknown == null);
        inARow.replaceAll((key, loss) -> new Loss(0, loss.unknown));
        any = !inARow.isEmpty();
    }

    private int count(MarkerKey key) {
        Loss loss = inARow.get(key);
        return loss == null ? 0 : loss.count;
    }

    private void note(MarkerKey key, Loss loss) {
        inARow.remove(key);
        inARow.put(key, loss);
        if (inARow.size() > MOST_KEYS) {
            inARow.remove(inARow.keySet().iterator().next());
        }
        any = true;
    }

    /** What is told of a commit that a claim has proven to be undone. */
    public static CommitRefusedException undoneCommit(Object whose, CommitUnknownException lost) {
        Throwable said = lost.getCause() == null ? lost : lost.getCause();
        return new CommitRefusedException(
                lost.answered()
                        ? lost.getMessage() + ", and then granted the next claim: so it refused, and rolled back"
                        : ended(whose),
                said);
    }

    /** What is told of a message that ends its own connections. */
    public static CommitRefusedException endedConnection(Object whose, Throwable lost) {
        return new CommitRefusedException(ended(whose), lost);
    }

    private static String ended(Object whose) {
        return "The transaction of " + whose
                + " lost its connection again and again, while the database went on to grant"
                + " its claims: rolled back, and counted as its own failure. Look for a statement larger than the server"
                + " takes (max_allowed_packet), or a pause longer than it waits (idle_in_transaction_session_timeout)";
    }
}
