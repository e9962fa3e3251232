package dev.idem.replay;

import dev.idem.Policy;
import dev.idem.steps.EffectPolicy;
import java.util.Objects;

/**
 * What a dry run says of one effect outside the database, or of one outbox. A handler that was changed since the messages
 * were handled may ask for others. Immutable.
 *
 * @param name the effect's, or the outbox's
 * @param answered by how many messages it would be asked for and found in the ledger: neither made nor suppressed
 * @param unsettled by how many it would be asked for and found there as one of which nobody knows whether it was made: left
 *     out where effects are suppressed; else its {@link EffectPolicy} decides
 * @param atMost how many other messages may ask for it, at most; of an outbox, how many may publish to it. Under {@link
 *     Policy.Replay#SUPPRESS_EFFECTS} these would be suppressed, else made
 */
public record EffectForecast(Kind kind, String name, long answered, long unsettled, long atMost) {
    public EffectForecast {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(name, "name");
    }

    /** What it is about. */
    public enum Kind {
        EFFECT,
        PUBLICATION,
        /** All effects that have no line of their own, above all those that the ledger has never seen. */
        OTHERS
    }
}
