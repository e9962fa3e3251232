package dev.idem;

import static dev.idem.Rejection.KEY_BLANK;
import static dev.idem.Rejection.KEY_MALFORMED;
import static dev.idem.Rejection.KEY_MISSING;
import static dev.idem.Rejection.KEY_TOO_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectionTest {

    @Test
    @DisplayName("PC-15 a key without parts, or with a part that is null, is missing")
    void noPartsIsNoKey() {
        assertRejected(Selection.of(Optional.empty()), KEY_MISSING);
        assertRejected(Selection.of(List.of()), KEY_MISSING);
        assertRejected(Selection.of(Arrays.asList("a", null)), KEY_MISSING);
        assertRejected(new Selection.Parts("t", "s", List.of()).ofTenant("t"), KEY_MISSING);
    }

    @ParameterizedTest
    @DisplayName("PC-15 a blank part makes the key blank, wherever it stands")
    @ValueSource(strings = {"", " ", "\t", "\u200b", "\u0000"})
    void blankParts(String blank) {
        assertRejected(Selection.of(Optional.of(blank)), KEY_BLANK);
        assertRejected(Selection.of(List.of("a", blank)), KEY_BLANK);
        assertRejected(Selection.of(Optional.of("a")).ofTenant(blank), KEY_BLANK);
        assertRejected(Selection.of(Optional.of("a")).fromSource(blank), KEY_BLANK);
    }

    @Test
    @DisplayName("KY-03 all 2048 lone surrogates are refused: as UTF-8 they would all become one id")
    void loneSurrogates() {
        for (char c = Character.MIN_SURROGATE; c <= Character.MAX_SURROGATE; c++) {
            assertRejected(Selection.of(Optional.of("id-" + c)), KEY_MALFORMED);
            assertRejected(Selection.of(Optional.of("id")).ofTenant("t" + c), KEY_MALFORMED);
            assertRejected(Selection.of(Optional.of("id")).fromSource("s" + c), KEY_MALFORMED);
        }
    }

    @Test
    @DisplayName("KY-07 1024 bytes fit and 1025 do not, counted in UTF-8 over all parts")
    void lengthLimit() {
        assertUsable(Selection.of(Optional.of("x".repeat(1024))));
        assertRejected(Selection.of(Optional.of("x".repeat(1025))), KEY_TOO_LONG);
        assertUsable(Selection.of(Optional.of("€".repeat(341) + "x")));
        assertRejected(Selection.of(Optional.of("€".repeat(341) + "xx")), KEY_TOO_LONG);
        assertUsable(Selection.of(Optional.of("😀".repeat(256))));
        assertRejected(Selection.of(Optional.of("😀".repeat(256) + "x")), KEY_TOO_LONG);

        Selection half = Selection.of(List.of("x".repeat(500), "y".repeat(512)));
        assertUsable(half.ofTenant("tenant").fromSource("source"));
        assertRejected(half.ofTenant("tenant").fromSource("source+"), KEY_TOO_LONG);
    }

    @Test
    void aRefusalTellsNoLongIdAndStaysARefusal() {
        Selection refused = Selection.of(Optional.of("x".repeat(5_000)));
        assertThat(refused.toString()).contains("5000 bytes").hasSizeLessThan(200);
        assertThat(refused.ofTenant("t").fromSource("s")).isSameAs(refused);
    }

    @Test
    @DisplayName("KY-03 parts are kept exactly as given")
    void partsAreUntouched() {
        List<String> ids = new ArrayList<>(List.of(" A\u0301 "));
        Selection selection = Selection.of(ids).ofTenant("T ").fromSource(" s");
        ids.set(0, "changed");
        assertThat(selection).isEqualTo(new Selection.Parts("T ", " s", List.of(" A\u0301 ")));
    }

    private static void assertUsable(Selection selection) {
        assertThat(selection).isInstanceOf(Selection.Parts.class);
    }

    static void assertRejected(Selection selection, Rejection reason) {
        assertThat(selection)
                .isInstanceOfSatisfying(
                        Selection.Unusable.class,
                        unusable -> assertThat(unusable.reason()).isEqualTo(reason));
    }
}
