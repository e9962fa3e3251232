package dev.idem;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** An inbox on a scripted store, with everything it does written down. */
public abstract class InboxFixture {
    public static final String ID = "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b";
    public static final Message MESSAGE =
            Message.builder().id(ID).type("t").payload(bytes("payload")).build();
    public static final Consumer CONSUMER = Consumer.of("billing");

    public final ScriptedStore store = new ScriptedStore();
    final Heard heard = new Heard();
    final List<String> steps = new ArrayList<>();
    public final Inbox inbox = Inbox.builder(store)
            .listener(heard)
            .steps((step, key) -> steps.add(step.name()))
            .build();

    @AfterEach
    void closeInbox() {
        inbox.close();
    }

    /** What the listeners heard in all; the inbox is closed for that. */
    public List<String> events() {
        inbox.close();
        return heard.events;
    }

    public static Consumer handling(Policy policy, Handler<String, ?> handler) {
        return Consumer.named("billing")
                .policy(policy)
                .on("t", PayloadDecoder.text(), handler)
                .build();
    }

    public static Consumer handling(Handler<String, ?> handler) {
        return handling(Policy.defaults(), handler);
    }

    public static Consumer with(Policy policy) {
        return Consumer.named("billing").policy(policy).build();
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
