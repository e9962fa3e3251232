package dev.idem;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** An inbox on a scripted store, with everything it does written down. */
abstract class InboxFixture {
    static final String ID = "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b";
    static final Message MESSAGE =
            Message.builder().id(ID).type("t").payload(bytes("payload")).build();
    static final Consumer CONSUMER = Consumer.of("billing");

    final ScriptedStore store = new ScriptedStore();
    final Heard heard = new Heard();
    final List<String> steps = new ArrayList<>();
    final Inbox inbox = Inbox.builder(store)
            .listener(heard)
            .steps((step, key) -> steps.add(step.name()))
            .build();

    @AfterEach
    void closeInbox() {
        inbox.close();
    }

    /** What the listeners heard in all; the inbox is closed for that. */
    List<String> events() {
        inbox.close();
        return heard.events;
    }

    static Consumer handling(Policy policy, Handler<String, ?> handler) {
        return Consumer.named("billing")
                .policy(policy)
                .on("t", PayloadDecoder.text(), handler)
                .build();
    }

    static Consumer handling(Handler<String, ?> handler) {
        return handling(Policy.defaults(), handler);
    }

    static Consumer with(Policy policy) {
        return Consumer.named("billing").policy(policy).build();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
