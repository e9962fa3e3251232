package dev.idem.cli.dlq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
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
        assertTold(broker + "127.0.0.1:" + port, "2");
    }

    /** The system takes the connection, and nobody ever answers on it. */
    @ParameterizedTest
    @ValueSource(strings = {"--kafka=", "--rabbitmq=amqp://", "--jms=amqp://"})
    void nobodyAnswers(String broker) throws Exception {
        try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertTold(broker + "127.0.0.1:" + hanging.getLocalPort(), "1");
        }
    }

    private static void assertTold(String broker, String seconds) {
        long start = System.nanoTime();
        Cli told = Cli.run("dlq", "list", broker, "--topic", "orders.dead-letters", "--broker-timeout", seconds);
        assertThat(told.code()).as(told.err()).isEqualTo(ExitCodes.ERROR);
        assertThat(told.err()).startsWith("idem dlq list: ").contains("Check").hasLineCount(1);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
}
