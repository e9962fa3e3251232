package dev.idem.examples.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.examples.support.Told;
import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
@Timeout(120)
class MainTest {
    @Test
    void tellsItsStory() throws Exception {
        assertThat(Told.byMain(Main::main))
                .containsExactly(
                        "Sent: [order-1, order-2, order-1, broken, order-3, order-1]",
                        "Billed: [order-1, order-2, order-3]",
                        "Dead letters: [broken, FAILED]");
    }
}
