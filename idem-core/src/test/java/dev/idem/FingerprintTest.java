package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class FingerprintTest {
    private static final String SHA_256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    private static final Message ABC = Message.builder()
            .id("m-1")
            .type("abc")
            .payload(InboxFixture.bytes("abc"))
            .build();

    @Test
    void thePayloadsBytesCount() {
        assertThat(hex(Fingerprint.ofPayload())).isEqualTo(SHA_256_OF_ABC);
    }

    @Test
    void aChosenPartCounts() {
        Fingerprint ofType = Fingerprint.of(m -> InboxFixture.bytes(m.type().orElseThrow()));
        assertThat(hex(ofType)).isEqualTo(SHA_256_OF_ABC);
    }

    @Test
    void itCanBeSwitchedOff() {
        assertThat(Fingerprint.off().digest(ABC)).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway")
    void aMissingProjectionIsRefused() {
        assertThatThrownBy(() -> Fingerprint.of(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void aSecretCounts() {
        byte[] secret = InboxFixture.bytes("a secret of 24 letters..");
        String keyed = hex(Fingerprint.keyed(secret));
        assertThat(keyed).isEqualTo(hex(Fingerprint.keyed(secret))).isNotEqualTo(SHA_256_OF_ABC);
        secret[0]++;
        assertThat(hex(Fingerprint.keyed(secret))).isNotEqualTo(keyed);
        assertThatThrownBy(() -> Fingerprint.keyed(new byte[15])).isInstanceOf(IllegalArgumentException.class);
    }

    private static String hex(Fingerprint fingerprint) {
        return HexFormat.of().formatHex(fingerprint.digest(ABC).orElseThrow());
    }
}
