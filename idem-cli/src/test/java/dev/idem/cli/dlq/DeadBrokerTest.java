package dev.idem.cli.dlq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker that is not there, or hangs, is told soon. */
@Timeout(60)
class DeadBrokerTest {
    @ParameterizedTest
    @ValueSource(strings = {"--kafka=", "--rabbitmq=amqp://", "--jms=amqp://"})
    void nobodyListens(String broker) throws Exception {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        assertToldWithin(broker + "127.0.0.1:" + port, "2");
    }

    /** The system takes the connection, and nobody ever answers on it. */
    @ParameterizedTest
    @ValueSource(strings = {"--kafka=", "--rabbitmq=amqp://", "--jms=amqp://"})
    void nobodyAnswers(String broker) throws Exception {
        try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertToldWithin(broker + "127.0.0.1:" + hanging.getLocalPort(), "1");
        }
    }

    /** What docs/operations.md says of a server that cannot be reached, and some seconds for a busy machine. */
    @ParameterizedTest
    @ValueSource(strings = {"--kafka=", "--rabbitmq=amqp://", "--jms=amqp://"})
    void nobodyAnswersAndNoTimeoutIsSaid(String broker) throws Exception {
        try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Duration took = assertTold(broker + "127.0.0.1:" + hanging.getLocalPort());
            assertThat(took).isBetween(Duration.ofSeconds(7), Duration.ofSeconds(14));
        }
    }

    private static void assertToldWithin(String broker, String seconds) {
        assertThat(assertTold(broker, "--broker-timeout", seconds)).isLessThan(Duration.ofSeconds(10));
    }

    private static Duration assertTold(String broker, String... more) {
        long start = System.nanoTime();
        List<String> arguments = new ArrayList<>(List.of("dlq", "list", broker, "--topic", "orders.dead-letters"));
        arguments.addAll(List.of(more));
        Cli told = Cli.run(arguments.toArray(String[]::new));
        assertThat(told.code()).as(told.err()).isEqualTo(ExitCodes.ERROR);
        assertThat(told.err()).startsWith("idem dlq list: ").contains("Check").hasLineCount(1);
        return Duration.ofNanos(System.nanoTime() - start);
    }
}
