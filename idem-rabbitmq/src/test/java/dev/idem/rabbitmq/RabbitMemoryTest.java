package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.fault.ForkedJvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitMemoryTest {
    private static final List<String> SMALL = List.of("-Xmx96m", "-XX:+ExitOnOutOfMemoryError");
    private static final int LARGE = 900_000;

    @Test
    @DisplayName("messages of 0.9 MB behind small ones: the heap of 96 MB is enough for more than 100 MB of them")
    void largeMessagesInASmallHeap() throws Exception {
        try (Bench bench = new Bench()) {
            bench.send(0, 500);
            String payload = "x".repeat(LARGE);
            bench.with(channel -> {
                channel.confirmSelect();
                for (int i = 0; i < 120; i++) {
                    channel.basicPublish("", bench.queue, Bench.id("large" + i).build(), payload.getBytes("US-ASCII"));
                }
                channel.waitForConfirmsOrDie(60_000);
            });
            String port = Integer.toString(bench.server.port());
            try (ForkedJvm small = ForkedJvm.start(SMALL, SmallHeap.class, port, bench.queue, "620")) {
                small.waitForLine("handled 620"::equals, Duration.ofSeconds(90));
                assertThat(small.lines()).noneMatch(line -> line.contains("OutOfMemory"));
            }
        }
    }

    @Test
    @DisplayName("the prefetch begins small, and follows the size of what comes")
    void prefetchFollowsSizes() {
        Prefetch prefetch = new Prefetch(250, 16 << 20);
        assertThat(prefetch.wanted(0)).isEqualTo(16);
        for (int i = 0; i < 100; i++) {
            prefetch.arrived(500);
        }
        assertThat(prefetch.wanted(16)).isEqualTo(250);
        for (int i = 0; i < 300; i++) {
            prefetch.arrived(LARGE);
        }
        assertThat(prefetch.wanted(250)).isBetween(8, 12);
        assertThat(prefetch.wanted(12)).as("a small change is not worth it").isEqualTo(12);
        prefetch.single(true);
        assertThat(prefetch.wanted(12)).isEqualTo(1);
    }
}
