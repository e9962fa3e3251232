package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import dev.idem.spi.StoredResult;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StoredResultTest extends InboxFixture {
    private static final ResultCodec<String> FAILING = new ResultCodec<>() {
        @Override
        public String name() {
            return "failing";
        }

        @Override
        public byte[] encode(String result) throws IOException {
            throw new IOException("too large");
        }

        @Override
        public String decode(byte[] bytes) {
            throw new AssertionError();
        }
    };

    @Test
    void theResultIsCommittedTogetherWithTheMarker() {
        ScriptedUnit unit = store.thenGrant("c");
        inbox.process(CONSUMER, MESSAGE, ResultCodec.text(), tx -> "r");
        assertThat(unit.stored.codec()).isEqualTo("text");
        assertThat(unit.stored.bytes()).isEqualTo(bytes("r"));
        assertThat(store.requests.get(0).withResult()).isTrue();
    }

    @Test
    @DisplayName("MY-10 a result above the cap is never sent to the store, and fails for good")
    void aResultAboveTheCap() {
        store.thenGrant("c");
        Consumer small = with(Policy.defaults().withMaxResultBytes(3));
        assertThatThrownBy(() -> inbox.process(small, MESSAGE, ResultCodec.text(), tx -> "four"))
                .isInstanceOf(TerminalException.class)
                .hasMessageContainingAll("billing", "4 bytes", "at most 3", "maxResultBytes");
        assertThat(store.calls).containsExactly("claim", "revoke", "rollback", "close");
        store.thenGrant("d");
        assertThat(inbox.process(small, MESSAGE, ResultCodec.text(), tx -> "six"))
                .isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void aDuplicateIsAnsweredWithTheFirstResult() {
        store.then(r -> new Claim.Taken(new Marker(
                null, r.fingerprint(), ScriptedStore.DONE_AT, "c", new StoredResult("text", bytes("first")))));
        assertThat(inbox.process(CONSUMER, MESSAGE, ResultCodec.text(), tx -> "second"))
                .isEqualTo(new Outcome.Duplicate<>(
                        Outcome.Duplicate.State.DONE, ScriptedStore.DONE_AT, Optional.of("first")));
    }

    @Test
    @SuppressWarnings("NullAway")
    void aNullResultIsNotStored() {
        ScriptedUnit unit = store.thenGrant("c");
        assertThat(inbox.<String, RuntimeException>process(CONSUMER, MESSAGE, ResultCodec.text(), tx -> null))
                .isEqualTo(new Outcome.Processed<>(null));
        assertThat(unit.stored).isNull();
    }

    @Test
    void withoutACodecNothingIsStoredOrAskedFor() {
        ScriptedUnit unit = store.thenGrant("c");
        inbox.process(CONSUMER, MESSAGE, tx -> "r");
        assertThat(unit.stored).isNull();
        assertThat(store.requests.get(0).withResult()).isFalse();
    }

    @Test
    void aResultThatCannotBeEncodedUndoesTheUnit() {
        store.thenGrant("c");
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, FAILING, tx -> "r"))
                .isInstanceOf(IdemException.class)
                .hasMessageContaining("codec failing")
                .hasRootCauseInstanceOf(IOException.class);
        assertThat(store.calls).containsExactly("claim", "revoke", "rollback", "close");
        assertThat(events()).containsExactly("Failed RETRYABLE");
    }

    @Test
    void aRouteMayHaveACodec() {
        ScriptedUnit unit = store.thenGrant("c");
        Consumer consumer = Consumer.named("billing")
                .on("t", "1", PayloadDecoder.text(), (event, tx) -> event, ResultCodec.text())
                .on("t", PayloadDecoder.text(), (event, tx) -> "any " + event, ResultCodec.text())
                .build();
        ScriptedUnit other = store.thenGrant("d");
        inbox.accept(consumer, MESSAGE.toBuilder().version("1").build());
        inbox.accept(consumer, MESSAGE.toBuilder().version("2").build());
        assertThat(other.stored.bytes()).isEqualTo(bytes("any payload"));
        assertThat(ResultCodec.text().name()).isEqualTo("text");
        assertThat(unit.stored.bytes()).isEqualTo(bytes("payload"));
    }
}
