package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class PipelineTortureTest {
    @Test
    @DisplayName("HX-10 from topic to topic: each output takes effect once and in order, whoever is killed between")
    void nothingIsLostDoubledOrOutOfOrder() {
        Tortured torture = BrokerTorture.isSurvivedBy("pipeline");

        assertThat(torture.report().get("orderChecked").booleanValue()).isTrue();
    }
}
