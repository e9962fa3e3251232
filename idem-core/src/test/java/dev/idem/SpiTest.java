package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.FaultHook;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SpiTest {

    @Test
    @SuppressWarnings("NullAway")
    void aMarkerKeyChecksItself() {
        assertThatThrownBy(() -> new MarkerKey(null, new UUID(0, 0), null)).hasMessage("consumer");
        assertThatThrownBy(() -> new MarkerKey("c", null, null)).hasMessage("value");
        assertThatThrownBy(() -> new Position(null, 0, 0)).hasMessage("stream");
    }

    @Test
    void aMarkerKeyShowsWhatAPersonWouldLookFor() {
        assertThat(new MarkerKey("c", new UUID(0, 1), "m-1")).hasToString("c/m-1");
        assertThat(new MarkerKey("c", new UUID(0, 1), null)).hasToString("c/00000000-0000-0000-0000-000000000001");
    }

    @Test
    void theTextCodecKeepsWhatItIsGiven() throws Exception {
        ResultCodec<String> codec = ResultCodec.text();
        assertThat(codec.decode(codec.encode("€ 😀"))).isEqualTo("€ 😀");
    }

    @Test
    void theEmptyHookDoesNothing() {
        assertThatCode(() -> FaultHook.NONE.at(FaultPoint.AFTER_COMMIT, new MarkerKey("c", new UUID(0, 1), null)))
                .doesNotThrowAnyException();
    }
}
