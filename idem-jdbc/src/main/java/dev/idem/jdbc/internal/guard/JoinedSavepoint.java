package dev.idem.jdbc.internal.guard;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Where a joined message began in somebody else's transaction. On MariaDB, whose transactions have no names, it is also the
 * proof that the transaction is still the same: then the savepoint is still there. To look is to release it, which takes
 * along every savepoint that was set later, also those of other messages in this transaction. So it is set anew, and proves
 * from then on for them too. Used by one thread at a time, like the connection.
 */
public final class JoinedSavepoint {
    /** In the order they were set. Weak, because nobody says when a transaction of somebody else's has ended. */
    private static final Map<Connection, List<WeakReference<JoinedSavepoint>>> SET = new WeakHashMap<>();

    private final List<WeakReference<JoinedSavepoint>> neighbours;
    private Savepoint savepoint;
    private @Nullable JoinedSavepoint heir;

    private JoinedSavepoint(Savepoint savepoint, List<WeakReference<JoinedSavepoint>> neighbours) {
        this.savepoint = savepoint;
        this.neighbours = neighbours;
    }

    public static JoinedSavepoint set(Connection outer) throws SQLException {
        Savepoint set = fresh(outer);
        JoinedSavepoint mine = new JoinedSavepoint(set, on(outer));
        mine.neighbours.removeIf(other -> other.get() == null);
        mine.neighbours.add(new WeakReference<>(mine));
        return mine;
    }

    private static List<WeakReference<JoinedSavepoint>> on(Connection outer) {
        synchronized (SET) {
            return SET.computeIfAbsent(Condemnable.behind(outer), first -> new ArrayList<>());
        }
    }

    /** A name nobody else has: some databases replace a savepoint by another one of the same name. */
    private static Savepoint fresh(Connection outer) throws SQLException {
        return outer.setSavepoint(
                "idem_" + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    }

    public void undo(Connection outer) throws SQLException {
        outer.rollback(savepoint);
    }

    /**
     * Fails when the transaction is not the one in which it was set. Never while the handler of a later one runs, which could
     * not be undone then: the inbox refuses a confirm there.
     */
    public void prove(Connection outer) throws SQLException {
        JoinedSavepoint proof = this;
        while (proof.heir != null) {
            proof = proof.heir;
        }
        outer.releaseSavepoint(proof.savepoint);
        proof.savepoint = fresh(outer);
        proof.inheritLater();
    }

    private void inheritLater() {
        boolean later = false;
        for (WeakReference<JoinedSavepoint> reference : List.copyOf(neighbours)) {
            JoinedSavepoint other = reference.get();
            if (later && other != null) {
                other.heir = this;
            }
            if (later) {
                neighbours.remove(reference);
            }
            later |= other == this;
        }
    }
}
