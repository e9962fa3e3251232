package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class RabbitTortureTest {
    @Test
    @DisplayName("messages take effect once, whatever becomes of consumers, broker and connections")
    void nothingIsLostOrDoubled() {
        Tortured torture = BrokerTorture.isSurvivedBy("rabbitmq");
        BrokerTorture.hasTheLettersOfAllPoison(torture);

        assertThat(torture.report().get("orderChecked").booleanValue()).isFalse();
    }
}
