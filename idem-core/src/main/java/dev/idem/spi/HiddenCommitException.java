package dev.idem.spi;

import dev.idem.StoreException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A handler of a batch committed behind our back, and with its own work that of the messages before it. The store has
 * removed the markers of the messages behind it, whose work was rolled back.
 */
public class HiddenCommitException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final transient Set<MarkerKey> culprits;
    private final transient Set<MarkerKey> done;

    /**
     * @param culprits the keys of the unit that committed; what is left of their work, a person must find out
     * @param done the keys whose work and markers were committed with it
     */
    public HiddenCommitException(Set<MarkerKey> culprits, Set<MarkerKey> done, @Nullable Throwable cause) {
        super("A handler committed inside a batch: " + culprits, cause);
        this.culprits = Set.copyOf(culprits);
        this.done = Set.copyOf(done);
    }

    public Set<MarkerKey> culprits() {
        return culprits;
    }

    public Set<MarkerKey> done() {
        return done;
    }
}
