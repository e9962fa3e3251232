package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.join.JoinedInbox;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NestedUseTest extends InboxFixture {
    private static final Message OTHER = Message.of("other", new byte[0]);

    @Test
    @DisplayName("PC-17 a key inside itself fails at once and undoes the outer unit")
    void aKeyInsideItself() {
        store.thenGrant("c");
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> inbox.process(CONSUMER, MESSAGE, t -> "r")))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContaining("billing/" + ID + " inside itself");
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
        assertThat(events()).containsExactly("Failed RETRYABLE", "Failed RETRYABLE");
    }

    @Test
    @DisplayName("PC-17 another key inside a unit would commit on its own: refused, also through accept")
    void anotherKeyInsideAUnit() {
        store.thenGrant("c");
        Consumer outer = handling((event, tx) -> inbox.accept(handling((e, t) -> e), withType(OTHER)));
        assertThatThrownBy(() -> inbox.accept(outer, MESSAGE))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContaining("billing/other inside the unit of billing/" + ID)
                .hasMessageContaining("inbox.within");
    }

    @Test
    void theThreadIsFreeAgainAfterwards() {
        for (int i = 0; i < 2; i++) {
            aKeyIsRefusedAndTheHandlerGoesOn();
        }
    }

    private void aKeyIsRefusedAndTheHandlerGoesOn() {
        store.thenGrant("c");
        Outcome<String> outcome = inbox.process(CONSUMER, MESSAGE, tx -> {
            assertThatThrownBy(() -> inbox.process(CONSUMER, OTHER, t -> "r"))
                    .isInstanceOf(NestedProcessingException.class);
            return "went on";
        });
        assertThat(outcome).isEqualTo(new Outcome.Processed<>("went on"));
    }

    @Test
    void joiningARunningUnitIsAllowedForAnotherKeyOnly() {
        store.thenGrant("outer");
        store.thenGrant("inner");
        inbox.process(CONSUMER, MESSAGE, tx -> {
            JoinedInbox joined = inbox.within(tx.connection());
            assertThat(joined.process("billing", OTHER, t -> "r").outcome()).isEqualTo(new Outcome.Processed<>("r"));
            assertThatThrownBy(() -> joined.process("billing", MESSAGE, t -> "r"))
                    .isInstanceOf(NestedProcessingException.class);
            return "r";
        });
        assertThat(store.calls)
                .containsExactly("claim", "claim", "revoke", "commit", "close", "revoke", "commit", "close");
    }

    private static Message withType(Message message) {
        return message.toBuilder().type("t").build();
    }
}
