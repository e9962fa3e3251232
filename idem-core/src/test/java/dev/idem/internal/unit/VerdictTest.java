package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.idem.Fingerprint;
import dev.idem.InboxFixture;
import dev.idem.Logged;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.ResultCodec;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static final Instant DONE = Instant.EPOCH;
    private static final MarkerKey KEY = new MarkerKey("c", new UUID(1, 2), "m-1");
    private static final byte[] FULL =
            Fingerprint.ofPayload().digest(Message.of("m-1", new byte[] {1})).orElseThrow();

    @Test
    @DisplayName("KY-06 a store may keep a prefix of the fingerprint; one other byte in it is a conflict")
    void prefixComparison() {
        for (int kept = 1; kept <= FULL.length; kept++) {
            byte[] prefix = Arrays.copyOf(FULL, kept);
            assertThat(verdict(FULL, prefix)).isInstanceOf(Outcome.Duplicate.class);
            prefix[kept - 1] ^= 1;
            assertThat(verdict(FULL, prefix)).isEqualTo(new Outcome.Conflict<>(DONE));
        }
        assertThat(verdict(FULL, Arrays.copyOf(FULL, 33)))
                .as("more than a SHA-256 is another value")
                .isInstanceOf(Outcome.Conflict.class);
    }

    @Test
    void aConsumerMayHaveSwitchedFingerprintsOnOrOff() {
        assertThat(verdict(null, FULL))
                .isEqualTo(new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, DONE, Optional.empty()));
        assertThat(verdict(FULL, null)).isInstanceOf(Outcome.Duplicate.class);
        assertThat(verdict(null, null)).isInstanceOf(Outcome.Duplicate.class);
    }

    @Test
    @DisplayName("KY-04 a hash collision is rejected by name and never called a duplicate")
    void collisions() {
        for (MarkerKey key : new MarkerKey[] {KEY, new MarkerKey("c", new UUID(1, 2), null)}) {
            Marker other = new Marker("m-2", FULL, DONE, "claim", null);
            assertThat(Verdict.of(key, FULL, other, null, Outcome.Duplicate.State.DONE))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.KEY_COLLISION));
        }
    }

    @Test
    void theStoredResultComesBack() {
        assertThat(result(new StoredResult("text", InboxFixture.bytes("r")), ResultCodec.text()))
                .contains("r");
        assertThat(result(new StoredResult("text", InboxFixture.bytes("r")), null))
                .isEmpty();
        assertThat(result(null, ResultCodec.text())).isEmpty();
    }

    @Test
    void aResultOfAnotherCodecIsLeftOutAndLogged() {
        try (Logged logged = new Logged()) {
            assertThat(result(new StoredResult("json", InboxFixture.bytes("r")), ResultCodec.text()))
                    .isEmpty();
            assertThat(logged.lines(Level.WARN)).singleElement().asString().contains("codec json, not text");
        }
    }

    @Test
    @DisplayName("SE-04 a result that cannot be decoded is left out, and the log does not quote it")
    void undecodableResults() {
        ResultCodec<String> failing = new ResultCodec<>() {
            @Override
            public String name() {
                return "text";
            }

            @Override
            public byte[] encode(String result) {
                throw new AssertionError();
            }

            @Override
            public String decode(byte[] bytes) {
                throw new IllegalStateException("cannot read " + new String(bytes));
            }
        };
        try (Logged logged = new Logged()) {
            assertThat(result(new StoredResult("text", InboxFixture.bytes("CANARY")), failing))
                    .isEmpty();
            assertThat(logged.lines(Level.WARN)).singleElement().asString().contains("cannot be decoded");
            assertThat(String.join("\n", logged.lines())).doesNotContain("CANARY");
        }
    }

    private static Outcome<Object> verdict(byte[] given, byte[] kept) {
        return Verdict.of(KEY, given, new Marker("m-1", kept, DONE, "claim", null), null, Outcome.Duplicate.State.DONE);
    }

    private static Optional<String> result(StoredResult stored, ResultCodec<String> codec) {
        Outcome<String> outcome = Verdict.of(
                KEY, null, new Marker("m-1", null, DONE, "claim", stored), codec, Outcome.Duplicate.State.DONE);
        return ((Outcome.Duplicate<String>) outcome).storedResult();
    }
}
