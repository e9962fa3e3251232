package dev.idem.cli.dlq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Main;
import dev.idem.servers.RabbitServer;
import dev.idem.servers.SkipWithoutServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
@Timeout(180)
class BrokerPasswordTest {
    private final String queue = "letters" + System.nanoTime();

    @Test
    @DisplayName("the broker's password comes from the environment, so no list of processes shows it")
    void fromTheEnvironment() throws Exception {
        RabbitServer server = RabbitServer.shared();
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(server.host());
        factory.setPort(server.port());
        try (var connection = factory.newConnection();
                var channel = connection.createChannel()) {
            channel.queueDeclare(queue, true, false, false, null);
        }
        String address = "amqp://nobody:nothing@" + server.host() + ":" + server.port();

        Answer right = run("guest", address);
        assertThat(right.said()).contains("No dead letters in " + queue);
        assertThat(right.code()).isEqualTo(ExitCodes.OK);
        Answer wrong = run("guess22", address);
        assertThat(wrong.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(wrong.said()).doesNotContain("guess22", "nothing@");
    }

    @Test
    void whatIsWrongIsSaid() {
        Cli unset = Cli.run(
                "dlq",
                "list",
                "--rabbitmq",
                "amqp://127.0.0.1:1",
                "--queue",
                "q",
                "--broker-password-env",
                "IDEM_NO_SUCH_VARIABLE");
        assertThat(unset.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(unset.err()).contains("IDEM_NO_SUCH_VARIABLE is not set");
        Cli kafka = Cli.run("dlq", "list", "--kafka", "x:1", "--topic", "t", "--broker-user", "u");
        assertThat(kafka.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(kafka.err()).contains("--client-config");
    }

    private record Answer(int code, String said) {}

    private Answer run(String password, String address) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), Main.class.getName()));
        command.addAll(List.of("dlq", "list", "--rabbitmq", address, "--queue", queue));
        command.addAll(List.of("--broker-user", "guest", "--broker-password-env", "MQ_PASSWORD"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().put("MQ_PASSWORD", password);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Answer(process.exitValue(), said);
    }
}
