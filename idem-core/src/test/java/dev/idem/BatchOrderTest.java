package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.batch.BatchHandler;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** RO-07: behind a message that must come again, no other one of its ordering key runs, whichever way it failed. */
class BatchOrderTest extends BatchFixture {
    private final Handler<Message, Object> handler = (message, tx) -> {
        switch (id(message).split(" ")[0]) {
            case "later" -> throw new IllegalStateException("later");
            case "never" -> throw new TerminalException("never", null);
            case "defer" -> tx.defer(id(message));
            case "bad" -> tx.defer(id(message));
            default -> store.write(id(message));
        }
        return null;
    };

    @Test
    void theOthersOfItsKeyAreHeldAndNobodyElse() {
        assertThat(kinds(inbox.acceptAll(
                        each(handler),
                        List.of(of("k", "a"), of("k", "later b"), of("k", "c"), of("x", "d"), message("e")))))
                .containsExactly("Processed", "RETRYABLE", "Held", "Processed", "Processed");
        assertThat(store.effects).containsExactly("a", "d", "e");
        assertThat(store.markers.keySet()).containsExactlyInAnyOrder("a", "d", "e");
    }

    @Test
    void aMessageThatNeverComesAgainHoldsNobody() {
        assertThat(kinds(inbox.acceptAll(each(handler), List.of(of("k", "never a"), of("k", "b")))))
                .containsExactly("TERMINAL", "Processed");
    }

    @Test
    void busyMessagesHoldToo() {
        store.busy.add("b");
        assertThat(kinds(inbox.acceptAll(each(handler), List.of(of("k", "a"), of("k", "b"), of("k", "c")))))
                .containsExactly("Processed", "Busy", "Held");
    }

    @Test
    void messagesInLaterTransactionsAreHeldToo() {
        Consumer consumer = each(Policy.defaults().withBatchLimits(1, 1_000), handler);
        assertThat(kinds(inbox.acceptAll(consumer, List.of(of("k", "later a"), of("k", "b")))))
                .containsExactly("RETRYABLE", "Held");
    }

    @Test
    void aDuplicateBehindItIsADuplicate() {
        inbox.acceptAll(each(handler), List.of(of("k", "b")));
        assertThat(kinds(inbox.acceptAll(each(handler), List.of(of("k", "later a"), of("k", "b")))))
                .containsExactly("RETRYABLE", "Duplicate");
    }

    @Test
    @DisplayName("RO-07 what a deferred statement has failed holds those behind it, though they had run")
    void deferredCulprits() {
        assertThat(kinds(inbox.acceptAll(
                        each(handler),
                        List.of(of("k", "bad a"), of("k", "defer b"), of("x", "defer c"), of("k", "defer d")))))
                .containsExactly("RETRYABLE", "Held", "Processed", "Held");
        assertThat(store.effects).containsExactly("defer c");
        assertThat(store.claims).hasSize(1);
        assertThat(store.markers.keySet()).containsExactly("defer c");
    }

    @Test
    @DisplayName("RO-07 one that wrote directly behind a deferred culprit makes the others begin anew")
    void writersBehindADeferredCulprit() {
        assertThat(kinds(inbox.acceptAll(
                        each(handler), List.of(of("k", "bad a"), of("k", "b"), of("x", "c"), of("x", "defer d")))))
                .containsExactly("RETRYABLE", "Held", "Processed", "Processed");
        assertThat(store.claims).hasSize(2);
        assertThat(store.effects).containsExactly("c", "defer d");
    }

    @Test
    @DisplayName("RO-14 a message of a batch handler that is held leaves nothing, though its neighbours stay")
    void togetherBehindADeferredCulprit() {
        Consumer consumer = mixed((events, tx) -> events.forEach(event -> store.write(id(event))));
        assertThat(kinds(inbox.acceptAll(consumer, List.of(typed(of("k", "bad a")), of("k", "b"), of("x", "c")))))
                .containsExactly("RETRYABLE", "Held", "Processed");
        assertThat(store.effects).containsExactly("c");
        assertThat(store.markers.keySet()).containsExactly("c");
    }

    @Test
    @DisplayName("RO-07 what a batch handler fails holds those behind it in the same call")
    void failedByTheBatchHandler() {
        List<List<String>> calls = new ArrayList<>();
        Consumer consumer = all((events, tx) -> {
            calls.add(events.stream().map(BatchFixture::id).toList());
            for (int i = 0; i < events.size(); i++) {
                if (id(events.get(i)).startsWith("later")) {
                    tx.fail(i, new IllegalStateException("later"));
                } else if (id(events.get(i)).startsWith("never")) {
                    tx.fail(i, new TerminalException("never", null));
                } else {
                    store.write(id(events.get(i)));
                }
            }
        });
        assertThat(kinds(inbox.acceptAll(
                        consumer,
                        List.of(of("k", "a"), of("k", "later b"), of("x", "never c"), of("k", "d"), of("x", "e")))))
                .containsExactly("Processed", "RETRYABLE", "TERMINAL", "Held", "Processed");
        assertThat(calls).containsExactly(List.of("a", "later b", "never c", "d", "e"), List.of("a", "e"));
        assertThat(store.effects).containsExactly("a", "e");
    }

    @Test
    @DisplayName("RO-07 what cannot be decoded now holds those behind it in the same call")
    void undecodableForNow() {
        Consumer consumer = Consumer.named("batch")
                .onAll(
                        "t",
                        message -> {
                            switch (id(message).split(" ")[0]) {
                                case "later" -> throw new RetryableException("not now", null);
                                case "odd" -> throw new IllegalArgumentException("never");
                                case "error" -> throw new AssertionError("a library's bug");
                                default -> {
                                    return message;
                                }
                            }
                        },
                        (events, tx) -> events.forEach(event -> store.write(id(event))))
                .build();
        assertThat(kinds(inbox.acceptAll(
                        consumer,
                        List.of(
                                typed(of("k", "later a")),
                                typed(of("k", "b")),
                                typed(of("x", "odd c")),
                                typed(of("x", "d")),
                                typed(of("y", "error e"))))))
                .containsExactly("RETRYABLE", "Held", "Rejected", "Processed", "RETRYABLE");
        assertThat(store.effects).containsExactly("d");
    }

    @Test
    @DisplayName("RO-07 the order survives a transaction that begins anew")
    void restarts() {
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                throw new SQLTransientException("deadlock");
            }
            return handler.handle(message, tx);
        });
        assertThat(kinds(inbox.acceptAll(
                        consumer, List.of(of("k", "a"), of("k", "later x"), of("j", "b"), of("k", "c"), of("j", "d")))))
                .containsExactly("Processed", "RETRYABLE", "Processed", "Held", "Processed");
        assertThat(store.claims).hasSize(2);
        assertThat(store.claims.get(1)).containsExactly("a", "b", "c", "d");
        assertThat(store.effects).containsExactly("a", "b", "d");
    }

    @Test
    @DisplayName("RO-07 a store without batches keeps the order too, and tells of each message")
    void oneByOne() {
        ScriptedStore single = new ScriptedStore();
        single.thenGrant("1");
        single.thenGrant("2");
        Heard told = new Heard();
        Inbox plain = Inbox.builder(single).listener(told).build();
        Consumer consumer = each((message, tx) -> {
            if (id(message).startsWith("later")) {
                throw new IllegalStateException("later");
            }
            return null;
        });
        assertThat(kinds(plain.acceptAll(consumer, List.of(of("k", "later a"), of("k", "b"), message("c")))))
                .containsExactly("RETRYABLE", "Held", "Processed");
        plain.close();
        assertThat(told.events).containsExactly("Failed RETRYABLE", "Held", "Processed");
    }

    private Consumer mixed(BatchHandler<Message> together) {
        return Consumer.named("batch")
                .on("t", PayloadDecoder.message(), handler)
                .otherwiseAll(together)
                .build();
    }

    private static Message typed(Message message) {
        return message.toBuilder().type("t").build();
    }
}
