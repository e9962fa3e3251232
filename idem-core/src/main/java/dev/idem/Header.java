package dev.idem;

import dev.idem.internal.text.Text;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/** One header as it arrived: a name and bytes. Immutable; never logged. */
public final class Header {
    private final String name;
    private final byte[] value;

    public Header(String name, byte[] value) {
        this.name = Objects.requireNonNull(name, "name");
        this.value = value.clone();
    }

    public Header(String name, String value) {
        this(name, value.getBytes(StandardCharsets.UTF_8));
    }

    public String name() {
        return name;
    }

    public byte[] value() {
        return value.clone();
    }

    /** The value as UTF-8; bytes that are not UTF-8 become U+FFFD, so take ids from {@link #utf8}. */
    public String text() {
        return new String(value, StandardCharsets.UTF_8);
    }

    /** The value as UTF-8, if it is: a lenient reader would merge different malformed ids. */
    public Optional<String> utf8() {
        return Text.strictUtf8(value);
    }

    byte[] rawValue() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Header that && name.equals(that.name) && Arrays.equals(value, that.value);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
        return "Header[" + Text.printable(name) + ", " + value.length + " bytes]";
    }
}
