package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.Audit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What docs/rabbitmq.md shows. */
@Timeout(120)
@ExtendWith(SkipWithoutServer.class)
class RabbitGuideTest {
    @Test
    void listenAndReplay() throws Exception {
        try (Scene scene = new Scene()) {
            AtomicBoolean broken = new AtomicBoolean(true);
            Consumer billing = scene.single(message -> {
                if (broken.get()) {
                    throw new TerminalException("not yet", null);
                }
            });
            scene.bench.send(0, 1);
            ConnectionFactory factory = scene.bench.factory;
            Inbox inbox = scene.inbox;
            String orders = scene.bench.queue;
            // region rabbit-listen
            RabbitListener listener = RabbitInbox.listen(factory, orders, billing, inbox);
            // endregion
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            broken.set(false);
            List<String> audited = new ArrayList<>();
            Audit audit = (consumer, action, actor, reason, detail) -> audited.add(action);
            // region rabbit-replay
            try (DeadLetters letters = RabbitDeadLetters.open(factory, orders + ".dead-letters")) {
                LetterReplay.of(LetterFilter.all())
                        .as("anna", "the provider is back", audit)
                        .run(letters, progress -> {});
            }
            // endregion
            scene.awaitEachOnce(1);
            assertThat(audited).containsExactly("REPLAY", "REPLAYED");
            listener.close();
        }
    }
}
