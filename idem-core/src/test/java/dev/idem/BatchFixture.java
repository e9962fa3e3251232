package dev.idem;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** An inbox on a fake that takes batches; ids are names, and a message's payload is its id unless it says otherwise. */
abstract class BatchFixture {
    final FakeBatchStore store = new FakeBatchStore();
    final Heard heard = new Heard();
    final List<String> steps = new ArrayList<>();
    final Inbox inbox = Inbox.builder(store)
            .listener(heard)
            .steps((step, key) -> steps.add(step.name()))
            .build();

    @AfterEach
    void closeInbox() {
        Thread.interrupted();
        inbox.close();
    }

    /** What the listeners heard in all; the inbox is closed for that. */
    List<String> events() {
        inbox.close();
        return heard.events;
    }

    /** Writes the message's id, or does what the id's first word says. */
    Handler<Message, String> writing() {
        return (message, tx) -> {
            store.write(id(message));
            return "did " + id(message);
        };
    }

    static Consumer each(Handler<Message, ?> handler) {
        return each(Policy.defaults(), handler);
    }

    static Consumer each(Policy policy, Handler<Message, ?> handler) {
        return Consumer.named("batch").policy(policy).otherwise(handler).build();
    }

    static Consumer all(Policy policy, BatchHandler<Message> handler) {
        return Consumer.named("batch").policy(policy).otherwiseAll(handler).build();
    }

    static Consumer all(BatchHandler<Message> handler) {
        return all(Policy.defaults(), handler);
    }

    static Message message(String id) {
        return Message.of(id, InboxFixture.bytes(id));
    }

    static Message of(String orderingKey, String id) {
        return message(id).toBuilder().orderingKey(orderingKey).build();
    }

    static List<Message> messages(String... ids) {
        return List.of(ids).stream().map(BatchFixture::message).toList();
    }

    static String id(Message message) {
        return message.id().orElseThrow();
    }

    /** The kinds of the outcomes, as in the words of the log. */
    static List<String> kinds(List<Outcome<?>> outcomes) {
        return outcomes.stream()
                .map(outcome -> outcome instanceof Outcome.Failed<?> failed
                        ? failed.kind().toString()
                        : outcome.getClass().getSimpleName())
                .toList();
    }
}
