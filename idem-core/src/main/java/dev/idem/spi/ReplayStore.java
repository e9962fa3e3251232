package dev.idem.spi;

import dev.idem.Policy;
import dev.idem.replay.EffectForecast;
import dev.idem.replay.ReplaySession;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps replay sessions, and tells executors what they must know. Thread-safe.
 *
 * <pre>
 *   start ──► REQUESTED ── claim ──► RUNNING ──► DONE
 *                │  ▲                 │  │ └───► FAILED ── resume ──► REQUESTED
 *                │  └──── resume ── PAUSED
 *                └──── abort, from anything that is not final ──► ABORTED
 * </pre>
 *
 * A running session whose lease has run out can be claimed again. What an executor says counts only while it has the
 * session's fence, which grows with each claim.
 */
public interface ReplayStore {
    /** A session by its name. */
    Optional<ReplaySession> find(String name);

    /** Takes the oldest session of one of these consumers that waits for an executor, or was left by one. */
    Optional<ReplaySession> claim(Collection<String> consumers, String worker, Duration lease);

    /**
     * Writes down how far it is, and lengthens the lease; in whatever state a person has put it meanwhile.
     *
     * @param step null to lengthen the lease only
     * @return the session as it stands; empty if somebody else has it now, who goes on from the last step
     */
    Optional<ReplaySession> progress(ReplaySession claimed, @Nullable Step step, Duration lease);

    /** Ends a session that is running; false if it is not ours any more, or a person was faster. */
    boolean end(ReplaySession claimed, ReplaySession.State state, @Nullable String error);

    /** Lets the session go, so that another executor need not wait for the end of the lease. */
    void release(ReplaySession claimed);

    /** Which of these keys, all of one consumer, have a marker. Only a look: nothing may be concluded for a delivery. */
    Set<MarkerKey> marked(String consumer, List<MarkerKey> keys);

    /** Which of these keys, all of one consumer, stand for a message that is stored and not done. Only a look. */
    Set<MarkerKey> waiting(String consumer, List<MarkerKey> keys);

    /** The effects that the ledger has of these keys, all of one consumer, by name; without keys that have none. Only a look. */
    Map<MarkerKey, Map<String, StepRecord.State>> effects(String consumer, List<MarkerKey> keys);

    /** The names of the effects that the ledger got last, whatever messages they are of. */
    Set<String> effectNames(String consumer);

    /** The horizon of a consumer as it is now. */
    Optional<Instant> horizon(String consumer);

    /**
     * What became of some messages.
     *
     * @param counts of these messages alone
     * @param error about the last of them that was given up
     * @param effects of a dry run: what is known of effects by now, from the beginning; null leaves that as it is
     */
    record Step(
            Policy.Replay policy,
            @Nullable String cursor,
            OptionalLong total,
            ReplaySession.Counts counts,
            @Nullable String error,
            @Nullable List<EffectForecast> effects) {}
}
