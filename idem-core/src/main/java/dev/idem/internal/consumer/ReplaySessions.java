package dev.idem.internal.consumer;

import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.text.Text;
import dev.idem.replay.ReplaySession;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one place that says whether a message may run that claims to belong to a replay session. A name that nobody has
 * given to a session of this consumer runs nothing: a forged or mistyped header must not do anything again. A session that is
 * done takes nothing new; only what was stored before, and what fills a gap in it, still runs. What is known
 * is asked again after a second; that there is no such session is asked each time, for it may begin. Thread-safe.
 */
public final class ReplaySessions {
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST = 1_000;

    private final @Nullable ReplayStore store;
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    public ReplaySessions(MarkerStore store) {
        this.store = store instanceof MarkerStore.Replaying replaying ? replaying.replays() : null;
    }

    /** @param session null if there is none */
    private record Known(@Nullable ReplaySession session, long at) {
        boolean isFresh() {
            return session != null && System.nanoTime() - at < FRESH_NANOS;
        }
    }

    /**
     * Why the message must not run; null if it may, and is judged by its key.
     *
     * @throws StoreException when the store could not answer
     */
    public Keyed.@Nullable Turned judge(ConsumerPlan consumer, Message message) {
        Keyed.Turned turned = judgeStored(consumer, message, this::find);
        String name = message.replaySession().orElse(null);
        if (turned != null || name == null || message.markedAs().isPresent()) { // which no broker can say
            return turned;
        }
        ReplaySession session = find(name);
        return session != null && session.state() == ReplaySession.State.DONE
                ? new Keyed.Turned(true, "replay session " + name + " is done, and takes nothing new")
                : null;
    }

    /** What was stored while the session ran is done also after its end. */
    private Keyed.@Nullable Turned judgeStored(
            ConsumerPlan consumer, Message message, Function<String, @Nullable ReplaySession> finding) {
        String name = message.replaySession().orElse(null);
        if (name == null) {
            return null;
        }
        ReplaySession session = finding.apply(name);
        if (session == null || session.dryRun() || !session.consumer().equals(consumer.name())) {
            return new Keyed.Turned(
                    false,
                    "there is no replay session " + Text.printable(name) + " of consumer " + consumer.name()
                            + (store == null ? ", for its store keeps none" : ""));
        }
        if (session.state() == ReplaySession.State.ABORTED) {
            return new Keyed.Turned(true, "replay session " + name + " was aborted");
        }
        return consumer.policy().replay() == Policy.Replay.FORBIDDEN
                ? new Keyed.Turned(true, "the policy of " + consumer.name() + " forbids replays")
                : null;
    }

    /**
     * Whether enough is known of the sessions of these to judge them while a connection is held: to ask the store takes another
     * one. Whoever holds one gives it back, asks, and may then go by the answers however old they are.
     */
    public boolean know(Collection<QueuedMessage> stored, boolean asked) {
        for (String name : names(stored)) {
            Known before = known.get(name);
            if (before == null || (!asked && !before.isFresh())) {
                return false;
            }
        }
        return true;
    }

    public void ask(Collection<QueuedMessage> stored) {
        names(stored).forEach(this::asked);
    }

    private Set<String> names(Collection<QueuedMessage> stored) {
        Set<String> names = new HashSet<>();
        stored.forEach(message -> message.message().replaySession().ifPresent(names::add));
        names.removeIf(name -> store == null || !ReplaySession.isName(name)); // of which nothing can be known
        return names;
    }

    /**
     * The same for a stored message: the policy may have changed since, and with it the key.
     *
     * @param holding whether a connection is held; then what is known is not asked again
     */
    public Keyed.@Nullable Turned judge(ConsumerPlan consumer, QueuedMessage stored, boolean holding) {
        Keyed.Turned turned = judgeStored(consumer, stored.message(), holding ? this::remembered : this::find);
        if (turned != null || stored.message().replaySession().isEmpty()) {
            return turned;
        }
        boolean same =
                consumer.keyOf(stored.message()).filter(stored.key()::equals).isPresent();
        return same
                ? null
                : new Keyed.Turned(
                        true, "the replay policy, or the key, of " + consumer.name() + " was changed meanwhile");
    }

    private @Nullable ReplaySession remembered(String name) {
        Known before = known.get(name);
        return before == null ? find(name) : before.session;
    }

    private @Nullable ReplaySession find(String name) {
        Known before = known.get(name);
        return before != null && before.isFresh() ? before.session : asked(name);
    }

    private @Nullable ReplaySession asked(String name) {
        if (store == null || !ReplaySession.isName(name)) {
            return null;
        }
        long now = System.nanoTime();
        ReplaySession found = store.find(name).orElse(null);
        if (known.size() >= MOST) {
            known.values().removeIf(old -> !old.isFresh());
        }
        known.put(name, new Known(found, now));
        return found;
    }
}
