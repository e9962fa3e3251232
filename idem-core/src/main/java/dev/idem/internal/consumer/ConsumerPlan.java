package dev.idem.internal.consumer;

import dev.idem.Consumer;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.Rejection;
import dev.idem.Route;
import dev.idem.batch.BatchHandler;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.text.Text;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.MarkerKey;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A consumer as the inbox uses it: its keys, places, routes and rules, resolved from what was declared. Immutable. */
public final class ConsumerPlan {
    private final Consumer consumer;
    private final Policy policy;
    private final ConsumerKeys keys;
    private final @Nullable SequencePlan sequence;
    private final @Nullable Route receiver;

    private ConsumerPlan(Consumer consumer) {
        this.consumer = consumer;
        policy = consumer.policy();
        keys = new ConsumerKeys(consumer.name(), consumer.key(), consumer.isWatermark(), policy.rebuilds());
        sequence = consumer.sequence()
                .map(declared -> new SequencePlan(declared, policy.rebuilds()))
                .orElse(null);
        receiver = null;
    }

    private ConsumerPlan(ConsumerPlan from, Policy policy, @Nullable Route receiver) {
        consumer = from.consumer;
        this.policy = policy;
        keys = from.keys;
        sequence = from.sequence;
        this.receiver = receiver;
    }

    public static ConsumerPlan of(Consumer consumer) {
        return new ConsumerPlan(consumer);
    }

    /** The same consumer where it receives: whatever it has a handler for is given to this one. */
    public ConsumerPlan receivedBy(BatchHandler<Message> handler) {
        return new ConsumerPlan(this, policy, new Route.Together<>(PayloadDecoder.message(), handler));
    }

    /** The same consumer for one step, with a policy that fits it and treats replays as before. */
    public ConsumerPlan with(Policy other) {
        return new ConsumerPlan(this, other, receiver);
    }

    /** As it was declared. */
    public Consumer consumer() {
        return consumer;
    }

    public String name() {
        return consumer.name();
    }

    public String scope() {
        return consumer.scope();
    }

    public Policy policy() {
        return policy;
    }

    public UnaryOperator<String> redaction() {
        return consumer.redaction();
    }

    KeySelector key() {
        return consumer.key();
    }

    public boolean isWatermark() {
        return consumer.isWatermark();
    }

    public Optional<QueuePolicy> queue() {
        return consumer.queue();
    }

    public Set<Outbox> outboxes() {
        return consumer.outboxes();
    }

    public boolean isQueued() {
        return consumer.isQueued();
    }

    boolean isParking() {
        return consumer.isParking();
    }

    public boolean suppressesEffects(Message message) {
        return consumer.suppressesEffects(message);
    }

    public Optional<SequencePlan> sequence() {
        return Optional.ofNullable(sequence);
    }

    /** Whether its messages are judged by their versions here; where a queue receives them they are only stored. */
    public boolean isSequenced() {
        return sequence != null && !isReceiving();
    }

    /** Whether some of its messages are handled in steps. */
    public boolean hasSteps() {
        return consumer.routes().haveSteps();
    }

    /** Whether this is the consumer where it receives, and a message that is done is only stored. */
    public boolean isReceiving() {
        return receiver != null;
    }

    /** What a marker of its own says, before the queue is asked, if it has one. */
    public Outcome.Duplicate.State stateOfDuplicates() {
        return isWatermark() || queue().isPresent() ? Outcome.Duplicate.State.SEEN : Outcome.Duplicate.State.DONE;
    }

    /** Under which key a store keeps this message for this consumer; empty if it has none that can be used. */
    public Optional<MarkerKey> keyOf(Message message) {
        return keyed(message) instanceof Keyed.Key found ? Optional.of(found.key()) : Optional.empty();
    }

    /** Whether it is done once for its session, whatever else is known of it. */
    public boolean isRebuiltBy(Message message) {
        return keys.isRebuilt(message);
    }

    /**
     * The key whatever session brings the message, for what must be the same then: ids of what it puts out, and keys of
     * effects.
     *
     * @param claimed under which it runs
     */
    public MarkerKey keyBeyondSessions(Message message, MarkerKey claimed) {
        return keys.beyondSessions(message, claimed);
    }

    /** Where a watermark is kept for it: a session that rebuilds has watermarks of its own. */
    public Optional<Position> placeOf(Message message) {
        return keys.placeOf(message);
    }

    public Keyed keyed(Message message) {
        return keys.of(message);
    }

    /** The handler of this message; where a queue receives, whatever has one is only stored. */
    public Optional<Route> route(Message message) {
        Route own = consumer.routes().find(message);
        boolean received = receiver != null && (own != null || leavesUnknownTypes());
        return Optional.ofNullable(received ? receiver : own);
    }

    private boolean leavesUnknownTypes() {
        return queue().filter(queue -> !queue.unknownTypesLeft().isZero()).isPresent();
    }

    /** What becomes of a message nobody handles. */
    public <T extends @Nullable Object> Outcome<T> unknownType(Message message) {
        String detail = "consumer " + name() + " has no handler for type "
                + Text.printable(message.type().orElse("none"))
                + message.version().map(v -> " version " + Text.printable(v)).orElse("");
        return switch (policy.unknownType()) {
            case REJECT -> new Outcome.Rejected<>(Rejection.UNKNOWN_TYPE, detail);
            case IGNORE -> new Outcome.Suppressed<>(detail);
        };
    }

    /** The message's type if a handler is registered for it, else "other": keeps the number of metrics bounded. */
    public String typeLabel(Message message) {
        return message.type().filter(consumer.routes()::know).orElse("other");
    }

    @Override
    public String toString() {
        return consumer.toString();
    }
}
