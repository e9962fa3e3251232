package dev.idem.internal.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Seeded;
import dev.idem.Selection;
import dev.idem.spi.MarkerKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeyEncodingPropertyTest {

    @Test
    @DisplayName("KY-01 distinct tuples have distinct keys and distinct readable texts")
    void distinctTuplesStayDistinct() {
        Map<UUID, Selection.Parts> byValue = new HashMap<>();
        Map<String, Selection.Parts> byText = new HashMap<>();
        Seeded.forAll(100_000, random -> {
            Selection.Parts parts = tuple(random);
            MarkerKey key = KeyEncoding.encode("c", parts).key();
            KeyEncodingTest.assertHashed(key);
            assertThat(byValue.merge(key.value(), parts, (old, same) -> old)).isEqualTo(parts);
            assertThat(byText.merge(key.readable(), parts, (old, same) -> old)).isEqualTo(parts);
            assertThat(key.readable()).doesNotContainPattern("[\\p{Cntrl}\\u200b\\u2028]");
        });
        assertThat(byValue.size()).isGreaterThan(10_000);
    }

    @Test
    @DisplayName("KY-01 moving a character from one part to the next makes another key")
    void boundariesCount() {
        Seeded.forAll(20_000, random -> {
            String text = random.text() + random.text();
            int cut = 1 + random.below(text.length() - 1);
            MarkerKey one = KeyEncodingTest.encode(null, null, text);
            MarkerKey two = KeyEncodingTest.encode(null, null, text.substring(0, cut), text.substring(cut));
            assertThat(two.value()).isNotEqualTo(one.value());
            assertThat(two.readable()).isNotEqualTo(one.readable());
        });
    }

    @Test
    void timeOrderedIdsKeepTheirOrder() {
        Seeded.forAll(20_000, random -> {
            long early = random.bits() >>> 17;
            long late = early + 1 + random.below(1_000);
            assertThat(highOf(uuid7(random, early))).isLessThan(highOf(uuid7(random, late)));
            assertThat(highOf(ulid(random, early))).isLessThan(highOf(ulid(random, late)));
        });
    }

    @Test
    void aVerbatimKeyNeverMeetsAHashedOne() {
        Seeded.forAll(20_000, random -> {
            UUID any = new UUID(random.bits(), random.bits());
            MarkerKey key = KeyEncodingTest.encode(null, null, any.toString());
            assertThat(key.readable() == null).isEqualTo(any.version() != 8);
            assertThat(key.readable() == null).isEqualTo(key.value().version() != 8);
            assertThat(key.id()).isEqualTo(any.toString());
        });
    }

    @Test
    void aFailureNamesItsSeed() {
        assertThatThrownBy(() ->
                        Seeded.forAll(1, random -> assertThat(random.below(2)).isEqualTo(2)))
                .hasMessageContaining("repeat with -Didem.seed=");
    }

    private static Selection.Parts tuple(Seeded random) {
        String tenant = random.below(2) == 0 ? null : random.text();
        String source = random.below(2) == 0 ? null : random.text();
        return new Selection.Parts(tenant, source, List.copyOf(random.list(1 + random.below(3), random::text)));
    }

    private static MarkerKey uuid7(Seeded random, long millis) {
        UUID id = new UUID(millis << 16 | 0x7000 | random.below(0x1000), random.bits());
        return KeyEncodingTest.encode("tenant", null, id.toString());
    }

    private static MarkerKey ulid(Seeded random, long millis) {
        String alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        StringBuilder id = new StringBuilder();
        for (int shift = 45; shift >= 0; shift -= 5) {
            id.append(alphabet.charAt((int) (millis >>> shift) & 31));
        }
        while (id.length() < 26) {
            id.append(alphabet.charAt(random.below(32)));
        }
        return KeyEncodingTest.encode(null, null, id.toString());
    }

    /** Stores compare the bytes as unsigned; 47 bits of time keep the sign out of the comparison. */
    private static Long highOf(MarkerKey key) {
        return key.value().getMostSignificantBits();
    }
}
