package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.impl.ClientVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Keeps docs/rabbitmq.md honest about what was tested. */
class RabbitDocsTest {
    @Test
    void theClientThatWasTestedIsTheOneOfThisBuild() throws Exception {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/rabbitmq.md"))) {
            root = root.getParent();
        }
        assertThat(Files.readString(root.resolve("docs/rabbitmq.md")))
                .contains("with `amqp-client` " + ClientVersion.VERSION + ",");
    }
}
