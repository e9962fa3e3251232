package dev.idem.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MemoryStoreTest {
    private final MemoryStore store = new MemoryStore();
    private final Inbox inbox = Inbox.create(store);

    @Test
    void aTestCanLookInside() {
        String uuid = UUID.randomUUID().toString();
        for (String id : List.of("order-1", "a/b=c\\d", "\u200bx", uuid)) {
            assertThat(store.contains("mailer", id)).isFalse();
            inbox.process("mailer", message(id), tx -> "sent");
            assertThat(store.contains("mailer", id)).isTrue();
            assertThat(store.contains("printer", id)).isFalse();
        }
        assertThat(store.size()).isEqualTo(4);
        store.clear();
        assertThat(store.size()).isZero();
        assertThat(inbox.process("mailer", message(uuid), tx -> "sent")).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void aConsumersOwnKeyIsTakenForLookingInside() {
        Consumer consumer = Consumer.named("mailer")
                .key(KeySelector.business(m -> List.of("order", new String(m.payload(), StandardCharsets.UTF_8))))
                .build();
        inbox.process(consumer, Message.of("m-1", "7".getBytes(StandardCharsets.UTF_8)), tx -> "sent");
        assertThat(store.contains(consumer, Message.of("m-2", "7".getBytes(StandardCharsets.UTF_8))))
                .isTrue();
        assertThat(store.contains(consumer, Message.of("m-1", "8".getBytes(StandardCharsets.UTF_8))))
                .isFalse();
    }

    @Test
    void aMessageWithoutAKeyIsNeverThere() {
        assertThat(store.contains(Consumer.of("mailer"), Message.builder().build()))
                .isFalse();
    }

    @Test
    void timesComeFromTheClock() {
        Instant then = Instant.parse("2001-02-03T04:05:06Z");
        MemoryStore past = new MemoryStore(Clock.fixed(then, ZoneOffset.UTC));
        Inbox old = Inbox.create(past);
        old.process("mailer", message("1"), tx -> "sent");
        assertThat(past.markedAt(Consumer.of("mailer"), message("1"))).isEqualTo(then);
        assertThat(old.process("mailer", message("1"), tx -> "sent"))
                .isEqualTo(new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, then, java.util.Optional.empty()));
    }

    @Test
    void aHandlerThatWantsAConnectionIsToldWhatToDo() {
        assertThatThrownBy(() -> inbox.process("mailer", message("1"), tx -> tx.connection()))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("relational store on an in-memory database");
        assertThatThrownBy(() -> inbox.process("mailer", message("1"), tx -> tx.dataSource()))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(store.contains("mailer", "1")).isFalse();
    }

    @Test
    void aTestCanWaitUntilNothingRuns() throws Exception {
        assertThat(store.awaitIdle(1, TimeUnit.SECONDS)).isTrue();
        inbox.process("mailer", message("1"), tx -> {
            assertThat(store.awaitIdle(1, TimeUnit.MILLISECONDS)).isFalse();
            return "sent";
        });
        assertThat(store.awaitIdle(1, TimeUnit.SECONDS)).isTrue();
    }

    private static Message message(String id) {
        return Message.of(id, new byte[0]);
    }
}
