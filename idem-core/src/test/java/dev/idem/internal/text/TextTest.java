package dev.idem.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextTest {

    @ParameterizedTest
    @DisplayName("PC-15 what nobody can see is blank")
    @ValueSource(
            strings = {
                "",
                " ",
                "\t",
                "\r\n",
                "\u0000",
                "\u0085",
                "\u00a0",
                "\u00ad",
                "\u180e",
                "\u2007",
                "\u200b",
                "\u200c",
                "\u200d",
                "\u200e",
                "\u2028",
                "\u202e",
                "\u2060",
                "\u2065",
                "\u3000",
                "\ufeff",
                " \u200b\t\u2060 ",
                "\udb40\udc01"
            })
    void invisibleTextIsBlank(String text) {
        assertThat(Text.isBlank(text)).isTrue();
        assertThat(Text.isBlank(text + "a" + text)).isFalse();
    }

    @Test
    void everySurrogateThatStandsAloneIsFound() {
        for (char c = Character.MIN_SURROGATE; c <= Character.MAX_SURROGATE; c++) {
            assertThat(Text.hasLoneSurrogate("a" + c + "b")).isTrue();
            assertThat(Text.hasLoneSurrogate(String.valueOf(c))).isTrue();
        }
        assertThat(Text.hasLoneSurrogate("\ude00\ud83d"))
                .as("the wrong way round")
                .isTrue();
        assertThat(Text.hasLoneSurrogate("\ud83d\ude00\ud83d"))
                .as("after a pair")
                .isTrue();
        assertThat(Text.hasLoneSurrogate("a😀b")).isFalse();
    }

    @Test
    void printableTextIsBoundedByWholeCharacters() {
        assertThat(Text.printable("x".repeat(200))).isEqualTo("x".repeat(200));
        assertThat(Text.printable("😀".repeat(201))).isEqualTo("😀".repeat(200) + "…");
    }

    @Test
    @DisplayName("SE-07 every character that could move the cursor, end the line or turn the text is escaped")
    void hiddenCharactersAreEscaped() {
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            String shown = Text.printable(Character.toString(c));
            boolean dangerous = Character.isISOControl(c)
                    || Character.getType(c) == Character.LINE_SEPARATOR
                    || Character.getType(c) == Character.PARAGRAPH_SEPARATOR
                    || Character.getType(c) == Character.SURROGATE
                    || (c >= 0x200B && c <= 0x200F)
                    || (c >= 0x202A && c <= 0x202E)
                    || (c >= 0x2066 && c <= 0x2069);
            if (dangerous) {
                assertThat(shown).isEqualTo(String.format("\\u{%x}", c));
            }
        }
    }

    @Test
    @DisplayName("KY-03 the readable form does not follow the Unicode tables of the JDK, which grow")
    void escapingIsTheSameOnEveryJdk() {
        // U+13439 is unassigned for JDK 17 and a format character for JDK 21; U+E0200 may become one.
        assertThat(Text.printable("\ud80d\udc39")).isEqualTo("\\u{13439}");
        assertThat(Text.printable("\udb40\ude00")).isEqualTo("\\u{e0200}");
        // Format characters that are visible stay as they are.
        assertThat(Text.printable("\u0600\u06dd")).isEqualTo("\u0600\u06dd");
    }

    @Test
    void onlyStrictUtf8IsDecoded() {
        assertThat(Text.strictUtf8(new byte[] {(byte) 0xE2, (byte) 0x82, (byte) 0xAC}))
                .contains("€");
        assertThat(Text.strictUtf8(new byte[0])).contains("");
        assertThat(Text.strictUtf8(new byte[] {(byte) 0xE2, (byte) 0x82})).isEmpty();
        assertThat(Text.strictUtf8(new byte[] {(byte) 0xED, (byte) 0xA0, (byte) 0x80}))
                .as("a surrogate in UTF-8")
                .isEmpty();
    }
}
