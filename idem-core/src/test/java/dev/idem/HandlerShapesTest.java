package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.steps.EffectNotDoneException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever a handler looks like, it compiles, runs, and means what it says: each line here is one a user would type. */
class HandlerShapesTest {
    private final List<String> ran = new ArrayList<>();

    private void pay(String order, Transaction tx) {
        ran.add("void " + order);
    }

    private String receipt(String order, Transaction tx) {
        ran.add("value " + order);
        return "receipt";
    }

    private void payOrFail(String order, Transaction tx) throws Exception {
        throw new Exception("checked");
    }

    private void overloaded(String order, Transaction tx) {
        ran.add("void " + order);
    }

    private String overloaded(Message message, Transaction tx) {
        ran.add("value " + message.id().orElseThrow());
        return "receipt";
    }

    @Test
    void handlersWithoutAResult() {
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> ran.add(order)), null);
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> pay(order, tx)), null);
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> receipt(order, tx)), null);
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> tx.nothingToDo()), null);
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> {}), null);
        assertResult(
                on().on("t", PayloadDecoder.text(), (order, tx) -> {
                    pay(order, tx);
                }),
                null);
        assertResult(on().on("t", PayloadDecoder.text(), (String order, Transaction tx) -> pay(order, tx)), null);
        assertResult(on().on("t", PayloadDecoder.text(), this::pay), null);
        assertResult(on().on("t", PayloadDecoder.text(), this::receipt), null);
        assertResult(on().on("t", PayloadDecoder.text(), this::overloaded), null);
        assertResult(on().on("t", "1", PayloadDecoder.text(), this::pay), null);
        assertResult(on().on("t", "1", PayloadDecoder.text(), (order, tx) -> pay(order, tx)), null);
        assertResult(on().otherwise((message, tx) -> pay("42", tx)), null);
        assertResult(on().otherwise(this::overloaded), null);
        assertThat(ran).hasSize(12);
    }

    @Test
    void handlersWithAResult() {
        assertResult(
                on().on("t", PayloadDecoder.text(), (order, tx) -> {
                    return receipt(order, tx);
                }),
                "receipt");
        assertResult(on().on("t", PayloadDecoder.text(), (order, tx) -> "receipt of " + order), "receipt of 42");
        assertResult(on().on("t", "1", PayloadDecoder.text(), (order, tx) -> order), "42");
        assertResult(on().otherwise((message, tx) -> 42), 42);
        Handler<String, String> handler = this::receipt;
        assertResult(on().on("t", PayloadDecoder.text(), handler), "receipt");
        assertResult(on().on("t", PayloadDecoder.text(), this::receipt, ResultCodec.text()), "receipt");
        assertResult(
                on().on("t", PayloadDecoder.text(), (order, tx) -> receipt(order, tx), ResultCodec.text()), "receipt");
    }

    @Test
    void handlersThatOnlyThrow() {
        assertFails(on().on("t", PayloadDecoder.text(), (order, tx) -> {
            throw new TerminalException("no such order");
        }));
        assertFails(on().on("t", PayloadDecoder.text(), this::payOrFail));
        assertFails(on().otherwise((message, tx) -> {
            throw new RetryableException(new Exception("checked"));
        }));
        assertFails(on().on(
                        "t",
                        PayloadDecoder.text(),
                        (order, tx) -> {
                            throw new TerminalException("no such order");
                        },
                        ResultCodec.text()));
        assertFails(on().onAll("t", PayloadDecoder.text(), (orders, tx) -> {
            throw new TerminalException("no such orders");
        }));
    }

    @Test
    void workInTheCall() throws Exception {
        ScriptedStore store = new ScriptedStore();
        for (int i = 0; i < 4; i++) {
            store.thenGrant("a");
        }
        try (Inbox inbox = Inbox.create(store)) {
            Message message = Message.of("m", new byte[0]);
            assertThat(inbox.run("c", message, tx -> pay("1", tx))).isInstanceOf(Outcome.Processed.class);
            assertThat(inbox.run("c", message, tx -> receipt("1", tx))).isEqualTo(new Outcome.Processed<>(null));
            assertThat(inbox.run("c", message, Transaction::nothingToDo)).isInstanceOf(Outcome.Processed.class);
            Outcome<String> outcome = inbox.process("c", message, tx -> receipt("1", tx));
            assertThat(outcome).isEqualTo(new Outcome.Processed<>("receipt"));
        }
    }

    @Test
    void exceptionsHaveTheConstructorsOfExceptions() {
        Exception cause = new Exception("why");
        assertThat(new TerminalException("what")).hasMessage("what").hasNoCause();
        assertThat(new TerminalException("what", cause)).hasMessage("what").hasCause(cause);
        assertThat(new TerminalException(cause))
                .hasMessage("java.lang.Exception: why")
                .hasCause(cause);
        assertThat(new RetryableException("what")).hasMessage("what").hasNoCause();
        assertThat(new RetryableException(cause)).hasMessage(cause.toString()).hasCause(cause);
        assertThat(new EffectNotDoneException("what")).hasMessage("what").hasNoCause();
        assertThat(new EffectNotDoneException(cause))
                .hasMessage(cause.toString())
                .hasCause(cause);
    }

    private static Consumer.Builder on() {
        return Consumer.named("c");
    }

    private static void assertResult(Consumer.Builder builder, Object result) {
        assertThat(outcome(builder)).isEqualTo(new Outcome.Processed<>(result));
    }

    private static void assertFails(Consumer.Builder builder) {
        assertThat(outcome(builder)).isInstanceOf(Outcome.Failed.class);
    }

    private static Outcome<?> outcome(Consumer.Builder builder) {
        Message message = Message.builder()
                .id("m")
                .type("t")
                .version("1")
                .payload("42".getBytes(StandardCharsets.UTF_8))
                .build();
        ScriptedStore store = new ScriptedStore();
        store.thenGrant("a");
        try (Inbox inbox = Inbox.create(store)) {
            return inbox.accept(builder.build(), message);
        }
    }
}
