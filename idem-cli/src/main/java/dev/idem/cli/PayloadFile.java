package dev.idem.cli;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What {@code --payload} names in every command: the file with a payload, byte for byte, where - is the standard one. */
public final class PayloadFile {
    private static final String STANDARD = "-";

    private PayloadFile() {}

    public static boolean isStandard(@Nullable String file) {
        return STANDARD.equals(file);
    }

    /** Writes a new file that only its owner may read. */
    public static void write(String file, byte[] payload) throws IOException {
        PrivateFile.write(path(file), payload);
    }

    /** Byte for byte, but for a terminal: that is shown a text, for it would obey some bytes. */
    @SuppressWarnings("SystemOut")
    public static void print(PrintWriter out, byte[] payload) {
        if (isTerminal()) {
            out.println(Printable.utf8(payload).map(Printable::line).orElseGet(() -> Printable.base64(payload)));
            out.flush();
        } else {
            out.flush();
            System.out.write(payload, 0, payload.length);
            System.out.flush();
        }
    }

    /** Until Java 22 there is a console on a terminal only; since then it is asked. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        try {
            return console != null
                    && Boolean.TRUE.equals(Console.class.getMethod("isTerminal").invoke(console));
        } catch (ReflectiveOperationException older) {
            return true;
        }
    }

    /** What is in the file, or comes from the standard input. */
    public static byte[] read(String file) {
        try {
            return isStandard(file) ? System.in.readAllBytes() : Files.readAllBytes(path(file));
        } catch (IOException unreadable) {
            throw new CliException("The file with the payload cannot be read", "Check --payload", unreadable);
        }
    }

    private static Path path(String file) {
        try {
            return Path.of(file);
        } catch (InvalidPathException wrong) {
            throw new CliException("--payload is not the name of a file", "Choose another name", wrong);
        }
    }
}
