package dev.idem;

import dev.idem.batch.BatchHandler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** An inbox on a fake that takes batches; ids are names, and a message's payload is its id unless it says otherwise. */
public abstract class BatchFixture {
    public final FakeBatchStore store = new FakeBatchStore();
    final Heard heard = new Heard();
    public final List<String> steps = new ArrayList<>();
    public final Inbox inbox = Inbox.builder(store)
            .listener(heard)
            .steps((step, key) -> steps.add(step.name()))
            .build();

    @AfterEach
    void closeInbox() {
        Thread.interrupted();
        inbox.close();
    }

    /** What the listeners heard in all; the inbox is closed for that. */
    public List<String> events() {
        inbox.close();
        return heard.events;
    }

    /** Writes the message's id, or does what the id's first word says. */
    public Handler<Message, String> writing() {
        return (message, tx) -> {
            store.write(id(message));
            return "did " + id(message);
        };
    }

    public static Consumer each(Handler<Message, ?> handler) {
        return each(Policy.defaults(), handler);
    }

    public static Consumer each(Policy policy, Handler<Message, ?> handler) {
        return Consumer.named("batch").policy(policy).otherwise(handler).build();
    }

    public static Consumer all(Policy policy, BatchHandler<Message> handler) {
        return Consumer.named("batch").policy(policy).otherwiseAll(handler).build();
    }

    public static Consumer all(BatchHandler<Message> handler) {
        return all(Policy.defaults(), handler);
    }

    public static Message message(String id) {
        return Message.of(id, InboxFixture.bytes(id));
    }

    static Message of(String orderingKey, String id) {
        return message(id).toBuilder().orderingKey(orderingKey).build();
    }

    public static List<Message> messages(String... ids) {
        return List.of(ids).stream().map(BatchFixture::message).toList();
    }

    public static String id(Message message) {
        return message.id().orElseThrow();
    }

    /** The kinds of the outcomes, as in the words of the log. */
    public static List<String> kinds(List<Outcome<?>> outcomes) {
        return outcomes.stream()
                .map(outcome -> outcome instanceof Outcome.Failed<?> failed
                        ? failed.kind().toString()
                        : outcome.getClass().getSimpleName())
                .toList();
    }
}
