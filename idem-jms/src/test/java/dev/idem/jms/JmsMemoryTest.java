package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.PostgresServer;
import dev.idem.test.fault.ForkedJvm;
import jakarta.jms.BytesMessage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** 100 MB of messages and a heap of 64 MB. */
class JmsMemoryTest extends JmsScene {
    private static final int MESSAGES = 112;
    private static final int BYTES = 900_000;
    private static final long BUDGET = 8 * 1024 * 1024;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("a budget of bytes bounds what is received, and everything is handled in its turn")
    void smallHeap(boolean amqp) throws Exception {
        Sending[] large = new Sending[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            String id = "m" + i;
            large[i] = session -> {
                BytesMessage message = session.createBytesMessage();
                message.writeBytes(new byte[BYTES]);
                message.setStringProperty("messageId", id);
                return message;
            };
        }
        send(large);
        PostgresServer server = PostgresServer.shared();
        String url = amqp ? artemis.amqpUrl() + "&jms.prefetchPolicy.all=5" : artemis.coreUrl();
        try (ForkedJvm service = ForkedJvm.start(
                List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError"),
                SmallHeapMain.class,
                url,
                queue,
                server.jdbcUrl(server.createDatabase()),
                Integer.toString(MESSAGES))) {
            String full = service.waitForLine(line -> line.startsWith(SmallHeapMain.FULL), LONG);
            long bytes = Long.parseLong(full.substring(SmallHeapMain.FULL.length()));
            assertThat(bytes).isBetween(BUDGET, BUDGET + 2 * BYTES);
            // The AMQP client waits a minute for the broker's word on credit, should that ever be lost, and connects
            // anew.
            String done = service.waitForLine(line -> line.startsWith(SmallHeapMain.DONE), Duration.ofMinutes(3));
            assertThat(done).isEqualTo(SmallHeapMain.DONE + MESSAGES + " RUNNING");
        }
        until(() -> artemis.messages(queue) == 0);
    }
}
