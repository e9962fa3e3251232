package dev.idem.jdbc.admin;

import dev.idem.queue.QueueState;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which stored messages are meant: those for which everything holds that is asked for. Immutable and thread-safe.
 *
 * @param states empty: any
 * @param reason why they failed or were parked: EXHAUSTED, TERMINAL, CRASHED, STUCK, BEHIND, …
 * @param olderThan how long ago they were stored, at least, by the database's clock
 */
public record InboxFilter(
        Optional<String> consumer,
        Set<QueueState> states,
        Optional<String> type,
        Optional<String> orderingKey,
        Optional<String> reason,
        Optional<Duration> olderThan) {
    private static final InboxFilter ALL = new InboxFilter(
            Optional.empty(), Set.of(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    public InboxFilter {
        states = Set.copyOf(states);
        if (states.contains(QueueState.COMPLETED)) {
            throw new IllegalArgumentException("what is completed is not in the queue any more");
        }
        if (olderThan.filter(Duration::isNegative).isPresent()) {
            throw new IllegalArgumentException("olderThan is " + olderThan.get() + ", but must not be negative");
        }
    }

    public static InboxFilter all() {
        return ALL;
    }

    public InboxFilter withConsumer(@Nullable String value) {
        return new InboxFilter(Optional.ofNullable(value), states, type, orderingKey, reason, olderThan);
    }

    public InboxFilter withStates(Set<QueueState> value) {
        return new InboxFilter(consumer, value, type, orderingKey, reason, olderThan);
    }

    public InboxFilter withStates(QueueState... value) {
        return withStates(Set.of(value));
    }

    public InboxFilter withType(@Nullable String value) {
        return new InboxFilter(consumer, states, Optional.ofNullable(value), orderingKey, reason, olderThan);
    }

    public InboxFilter withOrderingKey(@Nullable String value) {
        return new InboxFilter(consumer, states, type, Optional.ofNullable(value), reason, olderThan);
    }

    public InboxFilter withReason(@Nullable String value) {
        return new InboxFilter(consumer, states, type, orderingKey, Optional.ofNullable(value), olderThan);
    }

    public InboxFilter withOlderThan(@Nullable Duration value) {
        return new InboxFilter(consumer, states, type, orderingKey, reason, Optional.ofNullable(value));
    }
}
