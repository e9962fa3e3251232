package dev.idem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.test.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;

/** A consumer that keeps what it is given, and an inbox in memory. */
final class Taking {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final Inbox inbox = Inbox.create(new MemoryStore());
    final List<Message> seen = new CopyOnWriteArrayList<>();

    /** What the handler does with a message before it is seen as done. */
    @FunctionalInterface
    interface Work {
        void on(Message message);
    }

    static Consumer.Builder consumer() {
        return Consumer.named("interop")
                .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW));
    }

    Consumer everything() {
        return everything(message -> {});
    }

    Consumer everything(Work work) {
        return consumer()
                .otherwise((message, tx) -> {
                    seen.add(message);
                    work.on(message);
                    return 1;
                })
                .build();
    }

    /** For messages that bear no id. */
    Consumer byPosition() {
        return consumer()
                .key(KeySelector.position())
                .otherwise((message, tx) -> seen.add(message))
                .build();
    }

    List<Message> await(int messages) {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(seen).hasSizeGreaterThanOrEqualTo(messages));
        return seen;
    }

    static String payload(Message message) {
        return new String(message.payload(), StandardCharsets.UTF_8);
    }

    /** Waits for a condition, with a limit. */
    static void until(Callable<Boolean> condition) {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(condition);
    }
}
