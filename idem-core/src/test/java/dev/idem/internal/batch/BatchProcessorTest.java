package dev.idem.internal.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BatchFixture;
import dev.idem.Consumer;
import dev.idem.FakeBatchStore;
import dev.idem.InboxFixture;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.RetryableException;
import dev.idem.TerminalException;
import dev.idem.spi.TransientStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What becomes of each delivery of a list: repeats, parts, and messages that never reach a transaction. */
class BatchProcessorTest extends BatchFixture {
    @Test
    void anEmptyListIsDoneAtOnce() {
        assertThat(inbox.acceptAll(each(writing()), List.of())).isEmpty();
        assertThat(store.claims).isEmpty();
    }

    @Test
    @DisplayName("PG-13 a repeat of a processed message is a duplicate, and is told once like any delivery")
    void repeatOfAProcessedMessage() {
        assertThat(inbox.acceptAll(each(writing()), messages("a", "b", "a", "a")))
                .containsExactly(
                        new Outcome.Processed<>("did a"),
                        new Outcome.Processed<>("did b"),
                        new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, FakeBatchStore.DONE_AT, Optional.empty()),
                        new Outcome.Duplicate<>(
                                Outcome.Duplicate.State.DONE, FakeBatchStore.DONE_AT, Optional.empty()));
        assertThat(store.effects).containsExactly("a", "b");
        assertThat(events()).containsExactlyInAnyOrder("Processed", "Processed", "Duplicate", "Duplicate");
    }

    @Test
    @DisplayName("PG-13 RO-14 a repeat of a message that failed shares its fate, without another run")
    void repeatOfAFailedMessage() {
        List<String> runs = new ArrayList<>();
        Consumer consumer = each((message, tx) -> {
            runs.add(id(message));
            throw id(message).startsWith("never")
                    ? new TerminalException("never", null)
                    : new IllegalStateException("later");
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "never b", "a", "never b"))))
                .containsExactly("RETRYABLE", "TERMINAL", "RETRYABLE", "TERMINAL");
        assertThat(runs).containsExactly("a", "never b");
        assertThat(store.markers).isEmpty();
        assertThat(events()).hasSize(4);
    }

    @Test
    @DisplayName("PC-14 a repeat with another payload is a conflict, or comes again while nothing is marked")
    void repeatWithAnotherPayload() {
        Consumer consumer = each((message, tx) -> {
            if (!id(message).equals("a")) {
                throw id(message).equals("b")
                        ? new TerminalException("never", null)
                        : new IllegalStateException("later");
            }
            return null;
        });
        List<Message> batch = new ArrayList<>(messages("a", "b", "c"));
        for (String id : List.of("a", "b", "c")) {
            batch.add(Message.of(id, InboxFixture.bytes("another")));
        }
        assertThat(kinds(inbox.acceptAll(consumer, batch)))
                .containsExactly("Processed", "TERMINAL", "RETRYABLE", "Conflict", "Busy", "RETRYABLE");
    }

    @Test
    @DisplayName("PG-13 repeats of taken, conflicting and busy messages")
    void repeatOfARefusedMessage() {
        inbox.acceptAll(each(writing()), messages("a"));
        store.busy.add("c");
        Message conflicting = Message.of("a", InboxFixture.bytes("another"));
        assertThat(kinds(inbox.acceptAll(
                        each(writing()),
                        List.of(message("a"), message("a"), conflicting, conflicting, message("c"), message("c")))))
                .containsExactly("Duplicate", "Duplicate", "Conflict", "Conflict", "Busy", "Busy");
    }

    @Test
    @DisplayName("RO-14 messages without a key, a handler or a readable rule are judged alone")
    void whatNeverReachesATransaction() {
        Consumer consumer = Consumer.named("batch")
                .key(message -> {
                    if (message.rawPayload().length == 0) {
                        throw new StackOverflowError("deep");
                    }
                    if (id(message).equals("later")) {
                        throw new RetryableException("not now", null);
                    }
                    return KeySelector.messageId().select(message);
                })
                .on("t", PayloadDecoder.message(), writing())
                .build();
        List<Message> batch = List.of(
                typed(message("a")),
                typed(Message.of("deep", new byte[0])),
                typed(message("later")),
                typed(Message.builder().payload(InboxFixture.bytes("x")).build()),
                message("no type"),
                typed(message("b")));
        assertThat(kinds(inbox.acceptAll(consumer, batch)))
                .containsExactly("Processed", "RETRYABLE", "RETRYABLE", "Rejected", "Rejected", "Processed");
        assertThat(store.claims).containsExactly(List.of("a", "b"));
        assertThat(events()).hasSize(6);
    }

    @Test
    void aKeyRuleThatKillsTheProcessIsNotAnOutcome() {
        Consumer consumer = Consumer.named("batch")
                .key(message -> {
                    throw new OutOfMemoryError("no more");
                })
                .otherwise(writing())
                .build();
        assertThatThrownBy(() -> inbox.acceptAll(consumer, messages("a"))).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void limitsOfMessagesAndBytesMakeParts() {
        Consumer consumer = each(Policy.defaults().withBatchLimits(2, 10), writing());
        inbox.acceptAll(consumer, messages("a", "b", "c", "0123456789abc", "d", "1234567", "890"));
        assertThat(store.claims)
                .containsExactly(
                        List.of("a", "b"),
                        List.of("c"),
                        List.of("0123456789abc"),
                        List.of("d", "1234567"),
                        List.of("890"));
    }

    @Test
    @DisplayName("RO-02 an outage in one part fails the rest at once, and what was done before stays done")
    void outageInTheSecondPart() {
        Consumer consumer = each(Policy.defaults().withBatchLimits(2, 1_000).withMaxRuns(1), writing());
        store.nextClaim(() -> {});
        store.nextClaim(() -> {
            throw new TransientStoreException("down", null);
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c", "d", "e", "f", "c"))))
                .containsExactly(
                        "Processed",
                        "Processed",
                        "INFRASTRUCTURE",
                        "INFRASTRUCTURE",
                        "INFRASTRUCTURE",
                        "INFRASTRUCTURE",
                        "INFRASTRUCTURE");
        assertThat(store.claims).hasSize(2);
        assertThat(store.effects).containsExactly("a", "b");
    }

    @Test
    @DisplayName("PC-17 a batch inside a handler, and a message inside a batch, are refused")
    void nestedUse() {
        List<Throwable> refused = new ArrayList<>();
        Consumer inner = each(writing());
        Consumer outer = each((message, tx) -> {
            for (Runnable nested : List.<Runnable>of(
                    () -> inbox.acceptAll(inner, messages("x", "y")), () -> inbox.accept(inner, message("x")))) {
                try {
                    nested.run();
                } catch (NestedProcessingException expected) {
                    refused.add(expected);
                }
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(outer, messages("a", "b")))).containsExactly("Processed", "Processed");
        assertThat(refused).hasSize(4);
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("c")))).containsExactly("Processed");
        assertThat(events().stream().filter("Failed RETRYABLE"::equals)).hasSize(6); // 2 × (x, y and x)
    }

    @Test
    @DisplayName("HX-02 an error of the virtual machine is thrown, and every message is told all the same")
    void fatalError() {
        Consumer consumer = each(Policy.defaults().withBatchLimits(1, 1_000), (message, tx) -> {
            if (id(message).equals("b")) {
                throw new OutOfMemoryError("no more");
            }
            store.write(id(message));
            return null;
        });
        assertThatThrownBy(() -> inbox.acceptAll(consumer, messages("a", "b", "c")))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(store.effects).containsExactly("a");
        assertThat(events()).containsExactly("Processed", "Failed RETRYABLE", "Failed RETRYABLE");
    }

    private static Message typed(Message message) {
        return message.toBuilder().type("t").build();
    }
}
