package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class KafkaTortureTest {
    @Test
    @DisplayName("records take effect once and in order, whatever becomes of consumers, broker and connections")
    void nothingIsLostDoubledOrOutOfOrder() {
        Tortured torture = BrokerTorture.isSurvivedBy("kafka");
        BrokerTorture.hasTheLettersOfAllPoison(torture);

        assertThat(torture.report().get("orderChecked").booleanValue()).isTrue();
    }
}
