package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class RabbitServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void whatItConfirmedSurvivesAKillAndNothingOutlivesClose() throws Exception {
        Path directory;
        List<ProcessHandle> processes;
        try (var server = RabbitServer.start()) {
            directory = server.log().getParent();
            Connection connection = connect(server);
            try {
                Channel channel = connection.createChannel();
                channel.queueDeclare("kept", true, false, false, null);
                channel.confirmSelect();
                channel.basicPublish(
                        "", "kept", MessageProperties.PERSISTENT_BASIC, "m".getBytes(StandardCharsets.UTF_8));
                channel.waitForConfirmsOrDie(LIMIT.toMillis());
                assertThat(server.messages("kept")).isEqualTo(1);
                assertThat(channel.basicGet("kept", false)).isNotNull();
                assertThat(server.messages("kept"))
                        .as("with what is not acknowledged")
                        .isEqualTo(1);
                server.closeConnections();
                assertThat(Waiting.until(LIMIT, () -> !connection.isOpen())).isTrue();
            } finally {
                connection.abort();
            }
            long before = server.pid();
            server.flushQueues();
            server.killHard();
            server.restart();
            assertThat(server.pid()).isNotEqualTo(before);
            assertThat(server.messages("kept")).isEqualTo(1);
            processes = processesIn(directory);
            assertThat(processes).as("the broker and its name server").hasSizeGreaterThanOrEqualTo(2);
        }
        assertThat(processes).noneMatch(ProcessTree::runs);
        assertThat(directory).doesNotExist();
    }

    private static List<ProcessHandle> processesIn(Path directory) {
        return ProcessHandle.allProcesses()
                .filter(handle -> ProcessTree.worksIn(directory, handle))
                .toList();
    }

    private static Connection connect(RabbitServer server) throws Exception {
        var factory = new ConnectionFactory();
        factory.setHost(server.host());
        factory.setPort(server.port());
        factory.setAutomaticRecoveryEnabled(false);
        return factory.newConnection();
    }
}
