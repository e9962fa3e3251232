package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.TerminalException;
import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A broker that is short of memory takes nothing from those who publish. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitAlarmTest {
    private static final Set<String> POISON = Set.of("m10", "m20", "m30");

    @Test
    @DisplayName("a memory alarm and poisonous messages: the others flow on, and the letters follow, one for each")
    void lettersWaitAlone() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 300);
            scene.bench.server.memoryAlarm(true);
            try {
                RabbitInboxListener listener = scene.listen(how -> how.parallelism(2), scene.single(message -> {
                    if (POISON.contains(message.id().orElseThrow())) {
                        throw new TerminalException("never", null);
                    }
                }));
                Scene.until("the others are done", () -> scene.effects().size() == 297);
                Scene.until("it waits", () -> listener.state() == ListenerState.WAITING);
                assertThat(listener.waiting()).hasValueSatisfying(waiting -> {
                    assertThat(waiting.what()).contains("dead letters");
                    assertThat(waiting.why()).contains("the broker blocks publishers: low on memory");
                });
                assertThat(scene.bench.messages()).isBetween(2L, 3L);
            } finally {
                scene.bench.server.memoryAlarm(false);
            }
            scene.awaitEachOnce(297);
            assertThat(scene.letters())
                    .extracting(letter -> letter.message().id().orElseThrow())
                    .containsExactlyInAnyOrderElementsOf(POISON);
            assertThat(scene.runs).hasSize(300);
        }
    }
}
