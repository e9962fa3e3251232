package dev.idem.internal.outbox;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Selection;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.key.KeyEncoding;
import dev.idem.internal.key.OutputIds;
import dev.idem.internal.text.Text;
import dev.idem.queue.Outbox;
import dev.idem.spi.MarkerKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What one run of a handler publishes for one message. Nothing of it is written before the handler has returned: what fails
 * publishes nothing. Used by one thread.
 */
public final class Outputs {
    private static final Pattern OURS = Pattern.compile("idem[-_]", Pattern.CASE_INSENSITIVE);

    private final ConsumerPlan consumer;
    private final Message input;
    private final MarkerKey claimed;
    private final @Nullable String step;
    private final List<Publication> publications = new ArrayList<>();
    private boolean nothing;
    private boolean over;

    /**
     * @param claimed the key under which the input runs
     * @param step the step of the input that runs, if it is handled in steps
     */
    public Outputs(ConsumerPlan consumer, Message input, MarkerKey claimed, @Nullable String step) {
        this.step = step;
        this.consumer = consumer;
        this.input = input;
        this.claimed = claimed;
    }

    public void publish(String destination, Message message) {
        if (over) {
            throw new IllegalStateException("The handler has returned: nothing more can be published for " + claimed);
        }
        Outbox outbox = outbox(destination);
        Message complete = complete(Objects.requireNonNull(message, "message"));
        long size = complete.size();
        if (size > outbox.maxBytes()) {
            throw new IllegalArgumentException("The message for " + destination + " has " + size
                    + " bytes, but the outbox takes at most " + outbox.maxBytes()
                    + ": store the payload elsewhere and send a reference, or raise maxBytes");
        }
        publications.add(new Publication(outbox, rowOf(outbox, complete), known(outbox, complete)));
    }

    /** With the key under which relays know it: the same when the input is handled again, however often that is. */
    private Message known(Outbox outbox, Message message) {
        long before = publications.stream()
                .filter(p -> p.outbox().name().equals(outbox.name()))
                .filter(p -> p.message().id().equals(message.id()))
                .filter(p -> p.message().source().equals(message.source()))
                .count();
        return message.toBuilder()
                .markedAs(KeyEncoding.ofPublication(outbox.consumer(), consumer.scope(), key(), step, message, before))
                .build();
    }

    /** The handler says that there is nothing to write. */
    public void nothing() {
        nothing = true;
    }

    /** Whether the handler has said what it puts out, be it nothing. */
    public boolean areSaid() {
        return nothing || !publications.isEmpty();
    }

    public String id(String purpose) {
        return OutputIds.ofPurpose(
                consumer.scope(), key(), KeyEncoding.isTimed(key(), input), Objects.requireNonNull(purpose, "purpose"));
    }

    /** Ends the run. */
    public List<Publication> taken() {
        over = true;
        return List.copyOf(publications);
    }

    /** In observe mode and in a replay it runs under a key of its own, but what it puts out has the ids of the first run. */
    private MarkerKey key() {
        return consumer.policy().observeOnly()
                ? consumer.keyOf(input).orElse(claimed)
                : consumer.keyBeyondSessions(input, claimed);
    }

    private Outbox outbox(String destination) {
        for (Outbox outbox : consumer.outboxes()) {
            if (outbox.name().equals(destination)) {
                return outbox;
            }
        }
        String known = consumer.outboxes().stream().map(Outbox::name).sorted().collect(Collectors.joining(", "));
        throw new IllegalArgumentException("Consumer " + consumer.name() + " publishes to no destination '"
                + Text.printable(destination) + "', only to: " + (known.isEmpty() ? "none" : known)
                + ". Declare it with Consumer.Builder.publishesTo");
    }

    private Message complete(Message given) {
        Message message = given.toBuilder().withHeaders(ownHeaders(given)).build();
        Message.Builder complete = message.toBuilder().position(null).replaySession(null);
        if (message.id().isEmpty()) {
            complete.id(OutputIds.ofIndex(
                    consumer.scope(), key(), KeyEncoding.isTimed(key(), input), step, publications.size()));
        }
        if (message.source().isEmpty()) {
            complete.source(consumer.scope()); // as the id: who takes both for a key knows it after a renaming
        }
        String cause = input.id().orElse(null);
        header(complete, message, Outbox.CAUSATION_ID, cause);
        header(
                complete,
                message,
                Outbox.CORRELATION_ID,
                input.header(Outbox.CORRELATION_ID).orElse(cause));
        return complete.build();
    }

    /** Without what only says something about the input: its cause, its session, why it was a dead letter. */
    private List<Header> ownHeaders(Message message) {
        return message.headers().stream()
                .filter(header -> !OURS.matcher(header.name()).lookingAt() || !isOfInput(header))
                .toList();
    }

    private boolean isOfInput(Header header) {
        return input.headers(header.name()).stream().anyMatch(of -> Arrays.equals(of.value(), header.value()));
    }

    private static void header(Message.Builder to, Message message, String name, @Nullable String value) {
        if (value != null && message.headers(name).isEmpty()) {
            to.header(name, value);
        }
    }

    private static MarkerKey rowOf(Outbox outbox, Message message) {
        Selection id = Selection.of(message.id());
        if (id instanceof Selection.Unusable unusable) {
            throw new IllegalArgumentException(
                    "The message for " + outbox.name() + " has an id that no receiver can use: " + unusable.detail());
        }
        return KeyEncoding.unique(outbox.consumer(), (Selection.Parts) id);
    }
}
