package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.NestedProcessingException;
import dev.idem.spi.MarkerKey;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("PC-17 nesting")
class NestingTest {
    private static final MarkerKey A = new MarkerKey("c", new UUID(0, 1), "a");
    private static final MarkerKey B = new MarkerKey("c", new UUID(0, 2), "b");
    private final Nesting nesting = new Nesting();

    @Test
    void aKeyIsNeverInsideItself() {
        nesting.enterAlone(A);
        assertThatThrownBy(() -> nesting.enterAlone(A)).hasMessageContaining("c/a inside itself");
        assertThatThrownBy(() -> nesting.enterJoined(A)).hasMessageContaining("c/a inside itself");
    }

    @Test
    void anotherKeyMayOnlyJoin() {
        nesting.enterAlone(A);
        assertThatThrownBy(() -> nesting.enterAlone(B)).isInstanceOf(NestedProcessingException.class);
        nesting.enterJoined(B);
        nesting.leave();
        assertThatThrownBy(() -> nesting.enterAlone(B)).hasMessageContaining("inside the unit of c/a");
    }

    @Test
    void aRefusalLeavesNothingBehind() {
        nesting.enterAlone(A);
        assertThatThrownBy(() -> nesting.enterAlone(B)).isInstanceOf(NestedProcessingException.class);
        nesting.leave();
        assertThatCode(() -> nesting.enterAlone(B)).doesNotThrowAnyException();
    }

    @Test
    @DisplayName("HX-15 HX-16 threads and inboxes know nothing of each other")
    void isolation() {
        nesting.enterAlone(A);
        assertThatCode(() -> new Nesting().enterAlone(A)).doesNotThrowAnyException();
        assertThatCode(() -> CompletableFuture.runAsync(() -> {
                            nesting.enterAlone(A);
                            nesting.leave();
                        })
                        .join())
                .doesNotThrowAnyException();
    }
}
