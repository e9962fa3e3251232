package dev.idem.internal.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Selection;
import dev.idem.spi.MarkerKey;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class KeyEncodingTest {
    private static final String V7 = "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b";
    private static final long V7_TIME = 0x0190a5b23c4dL;
    private static final String ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    private static final long ULID_TIME = 1469922850259L; // the ULID specification's own example

    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "2", "3", "4", "5", "6", "7", "9", "a", "b", "c", "d", "e", "f"})
    void aCanonicalUuidOfAnyOtherVersionIsItsOwnKey(String version) {
        String id = "0190a5b2-3c4d-" + version + "e5f-8a6b-7c8d9e0f1a2b";
        assertThat(encode(null, null, id)).isEqualTo(new MarkerKey("c", UUID.fromString(id), null));
        assertThat(encode(null, null, id)).hasToString("c/" + id);
    }

    @Test
    void aUuidOfVersion8IsHashedSoThatTheTwoKindsCannotMeet() {
        MarkerKey key = encode(null, null, V7.replace("-7", "-8"));
        assertHashed(key);
        assertThat(key.value()).isNotEqualTo(UUID.fromString(V7.replace("-7", "-8")));
        assertThat(key.readable()).isEqualTo(V7.replace("-7", "-8"));
    }

    @ParameterizedTest
    @DisplayName("KY-03 what is not exactly canonical is another id, so it is hashed")
    @ValueSource(
            strings = {
                "0190A5B2-3C4D-7E5F-8A6B-7C8D9E0F1A2B",
                "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2B",
                "0190a5b23c4d7e5f8a6b7c8d9e0f1a2b",
                "{0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b}",
                "190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b",
                "190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b0",
                "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2b ",
                "0190a5b2-3c4d-7e5f-8a6b-7c8d9e0f1a2\n"
            })
    void otherSpellingsAreHashed(String id) {
        MarkerKey key = encode(null, null, id);
        assertHashed(key);
        assertThat(time(key)).isNotEqualTo(V7_TIME);
    }

    @Test
    void aUuidWithTenantSourceOrAnotherPartIsHashedAndKeepsItsTime() {
        for (MarkerKey key : List.of(
                encode("t", null, V7), encode(null, "s", V7), encode(null, null, "a", V7), encode("t", "s", V7))) {
            assertHashed(key);
            assertThat(time(key)).isEqualTo(V7_TIME);
        }
        assertThat(time(encode("t", null, V7.replace("-7", "-4")))).isNotEqualTo(V7_TIME);
        assertThat(time(encode(null, null, V7, "a")))
                .as("only the last part has a say")
                .isNotEqualTo(V7_TIME);
    }

    @Test
    void aUlidKeepsItsTimeInEitherCaseButTheCasesAreTwoIds() {
        MarkerKey upper = encode(null, null, ULID);
        MarkerKey lower = encode(null, null, ULID.toLowerCase());
        assertHashed(upper);
        assertThat(time(upper)).isEqualTo(ULID_TIME);
        assertThat(time(lower)).isEqualTo(ULID_TIME);
        assertThat(upper.value()).isNotEqualTo(lower.value());
        assertThat(time(encode(null, null, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"))).isEqualTo(0xFFFF_FFFF_FFFFL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", // more than 48 bits of time
                "01ARZ3NDEKTSV4RRFFQ69G5FA", // too short
                "01ARZ3NDEKTSV4RRFFQ69G5FAVX", // too long
                "01IRZ3NDEKTSV4RRFFQ69G5FAV", // I, L, O and U are not in the alphabet
                "01ARZ3NDEKTSV4RRFFQ69G5FAU"
            })
    void whatIsNoUlidHasNoTime(String id) {
        assertHashed(encode(null, null, id));
        assertThat(time(encode(null, null, id))).isNotIn(ULID_TIME, 0xFFFF_FFFF_FFFFL);
    }

    @Test
    void theConsumerIsAPartOfTheKey() {
        Selection.Parts parts = new Selection.Parts(null, null, List.of("m-1"));
        // PC-16: otherwise one consumer would suppress the other.
        assertThat(KeyEncoding.encode("a", parts)).isNotEqualTo(KeyEncoding.encode("b", parts));
    }

    public static MarkerKey encode(String tenant, String source, String... ids) {
        return KeyEncoding.encode("c", new Selection.Parts(tenant, source, List.of(ids)))
                .key();
    }

    static void assertHashed(MarkerKey key) {
        assertThat(key.value().version()).isEqualTo(8);
        assertThat(key.value().variant()).isEqualTo(2);
        assertThat(key.readable()).isNotNull();
    }

    private static long time(MarkerKey key) {
        return key.value().getMostSignificantBits() >>> 16;
    }
}
