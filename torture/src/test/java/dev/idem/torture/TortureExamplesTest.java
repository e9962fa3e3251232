package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Every campaign that a help text or a page shows can be typed as it stands, and every command explains itself. */
@Tag("quick")
class TortureExamplesTest {
    private static CommandLine commandLine() {
        return dev.idem.cli.Main.commandLine(new TortureCommand());
    }

    static Stream<String> helpTexts() {
        List<String> lines = new ArrayList<>();
        collect(commandLine().getSubcommands().get("torture"), lines);
        return lines.stream();
    }

    private static void collect(CommandLine command, List<String> lines) {
        Stream.of(command.getCommandSpec().usageMessage().footer())
                .filter(line -> line.startsWith("  idem "))
                .forEach(line -> lines.add(line.strip().replaceFirst(" {2,}.*", ""))); // what follows says what it does
        command.getSubcommands().values().forEach(sub -> collect(sub, lines));
    }

    static Stream<String> pages() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(root.resolve("idem-bom"))) {
            root = root.getParent();
        }
        List<String> lines = new ArrayList<>();
        try (Stream<Path> docs = Files.list(root.resolve("docs"))) {
            for (Path page :
                    docs.filter(path -> path.toString().endsWith(".md")).toList()) {
                Files.readString(page)
                        .lines()
                        .filter(line -> line.startsWith("./idem torture "))
                        .forEach(lines::add);
            }
        }
        return lines.stream();
    }

    @ParameterizedTest
    @MethodSource({"helpTexts", "pages"})
    void canBeTyped(String line) {
        String[] words = line.replaceFirst("\\s[#>|].*", "").strip().split("\\s+");
        assertThatCode(() -> commandLine().parseArgs(Stream.of(words).skip(1).toArray(String[]::new)))
                .as(line)
                .doesNotThrowAnyException();
    }

    @Test
    void everyCampaignExplainsItself() {
        for (String name : List.of("inbox", "kafka", "rabbitmq", "pipeline")) {
            Cli help = Cli.run("torture", name, "--help");
            assertThat(help.code()).as(name).isZero();
            assertThat(help.out()).contains("Usage: idem torture " + name, "Example", "Exit codes:", "--verbose");
        }
    }
}
