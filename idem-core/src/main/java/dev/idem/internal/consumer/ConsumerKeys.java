package dev.idem.internal.consumer;

import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.Rejection;
import dev.idem.RetryableException;
import dev.idem.Selection;
import dev.idem.internal.key.KeyEncoding;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.key.PositionKeys;
import dev.idem.internal.key.SessionScope;
import dev.idem.internal.outbox.Outputs;
import dev.idem.queue.Outbox;
import dev.idem.replay.ReplaySession;
import dev.idem.spi.MarkerKey;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Under which key, or at which place, a consumer remembers a message; a session that rebuilds has its own. Thread-safe. */
final class ConsumerKeys {
    private final String consumer;
    private final KeySelector selector;
    private final @Nullable PositionKeys positions;
    private final boolean rebuilt;
    private final boolean relayed;

    /**
     * The keys of a consumer.
     *
     * @param watermark whether the position alone tells what is done
     * @param rebuilt whether replay sessions do everything once more
     */
    ConsumerKeys(String consumer, KeySelector selector, boolean watermark, boolean rebuilt) {
        this.consumer = consumer;
        this.selector = selector;
        this.positions = watermark ? new PositionKeys(consumer) : null;
        this.rebuilt = rebuilt;
        this.relayed = Outbox.isRelay(consumer);
    }

    /** Whether it is done once for its session, whatever else is known of it. */
    boolean isRebuilt(Message message) {
        return rebuilt && message.replaySession().isPresent();
    }

    /** The key to claim, or why there is none. */
    Keyed of(Message message) {
        Position position = positions == null ? null : placeOf(message).orElse(null);
        Keyed byPosition = positions == null || position == null ? null : positions.of(position);
        return byPosition != null ? byPosition : inSession(message, ordinary(message));
    }

    /**
     * The key whatever session brings the message, or the one that was claimed. In an outbox each row has one that nobody else
     * has, also where the same is published again; but all rows of one publication say as what it is known (see {@link Outputs}).
     */
    MarkerKey beyondSessions(Message message, MarkerKey claimed) {
        return (relayed || isRebuilt(message)) && of(message.inSession(null)) instanceof Keyed.Key ordinary
                ? ordinary.key()
                : claimed;
    }

    /** Where a mark is kept for it. */
    Optional<Position> placeOf(Message message) {
        return isRebuilt(message)
                ? message.position()
                        .map(place -> SessionScope.scoped(
                                place, message.replaySession().orElseThrow()))
                : message.position();
    }

    private Keyed inSession(Message message, Keyed ordinary) {
        if (!(ordinary instanceof Keyed.Key key) || !isRebuilt(message)) {
            return ordinary;
        }
        String session = message.replaySession().orElseThrow();
        return ReplaySession.isName(session)
                ? new Keyed.Key(KeyEncoding.ofSession(key.key(), session), key.made())
                : new Keyed.Without(Rejection.KEY_MALFORMED, "the name of its replay session cannot be one");
    }

    /** What it was marked as counts more than what it says of itself now. */
    private Keyed ordinary(Message message) {
        Keyed own = selected(message);
        MarkerKey marked = message.markedAs().orElse(null);
        if (marked == null || !marked.consumer().equals(consumer)) {
            return own;
        }
        return own instanceof Keyed.Key key && key.key().equals(marked)
                ? own
                : new Keyed.Key(marked, KeyEncoding.madeAt(marked));
    }

    private Keyed selected(Message message) {
        Selection selection = select(message);
        // Checked once more, for parts that a selector of the user's own made without the checking factories.
        Selection checked = selection instanceof Selection.Parts parts ? parts.checked() : selection;
        return checked instanceof Selection.Unusable unusable
                ? new Keyed.Without(unusable.reason(), unusable.detail())
                : KeyEncoding.encode(consumer, (Selection.Parts) checked);
    }

    /** A rule that fails for a message would fail again, as for decoders, so the message is without a key. */
    private Selection select(Message message) {
        try {
            return selector.select(message);
        } catch (RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (RuntimeException failure) { // its text may quote the payload, so only its type is told
            return new Selection.Unusable(
                    Rejection.KEY_MALFORMED,
                    "the key selector failed: " + failure.getClass().getName());
        }
    }
}
