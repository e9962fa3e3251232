package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Every command line that a help text or a page shows can be typed as it stands. */
@Tag("quick")
class ExamplesTest {
    private static final String DB = "--url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD";
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    static Stream<String> helpTexts() {
        List<String> lines = new ArrayList<>();
        collect(Main.commandLine(), lines);
        return lines.stream();
    }

    private static void collect(CommandLine command, List<String> lines) {
        for (String line : command.getCommandSpec().usageMessage().footer()) {
            if (line.startsWith("  idem ") || line.startsWith("  ./idem ")) {
                lines.add(line.strip().replaceFirst(" {2,}.*", "")); // what follows says what it does
            }
        }
        command.getSubcommands().values().forEach(sub -> collect(sub, lines));
    }

    static Stream<String> pages() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(root.resolve("idem-bom"))) {
            root = root.getParent();
        }
        List<String> lines = new ArrayList<>();
        try (Stream<Path> docs = Files.list(root.resolve("docs"))) {
            List<Path> pages =
                    new ArrayList<>(docs.filter(page -> page.toString().endsWith(".md"))
                            .sorted()
                            .toList());
            pages.add(root.resolve("README.md"));
            for (Path page : pages) {
                Files.readString(page)
                        .lines()
                        .filter(line -> line.startsWith("./idem "))
                        .forEach(lines::add);
            }
        }
        return lines.stream();
    }

    @ParameterizedTest
    @MethodSource({"helpTexts", "pages"})
    void canBeTyped(String line) {
        assertThatCode(() -> Main.commandLine().parseArgs(words(line))).as(line).doesNotThrowAnyException();
    }

    /** As a shell takes them apart, up to a comment, a file or a pipe; a password that would be asked for is given. */
    private static String[] words(String line) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(line.replaceFirst("\\s[#>|].*", "")
                .replace("$DB", DB)
                .replaceFirst("--password(?= |$)", "--password=secret"));
        while (word.find()) {
            words.add(Stream.of(word.group(1), word.group(2), word.group(3))
                    .filter(text -> text != null)
                    .findFirst()
                    .orElseThrow());
        }
        return words.subList(1, words.size()).toArray(String[]::new);
    }
}
