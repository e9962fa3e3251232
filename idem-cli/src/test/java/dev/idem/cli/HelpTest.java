package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

@Tag("quick")
class HelpTest {
    static Stream<List<String>> commands() {
        var found = new ArrayList<List<String>>();
        collect(Main.commandLine(), List.of(), found);
        return found.stream();
    }

    private static void collect(CommandLine command, List<String> path, List<List<String>> found) {
        found.add(path);
        command.getSubcommands().forEach((name, sub) -> {
            var longer = new ArrayList<>(path);
            longer.add(name);
            collect(sub, longer, found);
        });
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandExplainsItselfWithExamplesAndExitCodes(List<String> path) {
        var args = new ArrayList<>(path);
        args.add("--help");

        PrintStream before = System.err;
        ByteArrayOutputStream complaints = new ByteArrayOutputStream();
        System.setErr(new PrintStream(complaints, true, StandardCharsets.UTF_8));
        Cli help;
        try {
            help = Cli.run(args.toArray(String[]::new));
        } finally {
            System.setErr(before);
        }

        assertThat(help.code()).isZero();
        assertThat(help.err()).isEmpty();
        assertThat(complaints.toString(StandardCharsets.UTF_8))
                .as("what picocli itself complains of")
                .isEmpty();
        assertThat(help.out()).contains("Usage: idem", "Example", "Exit codes:", "--verbose");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandKnowsTheVersion(List<String> path) {
        var args = new ArrayList<>(path);
        args.add("--version");

        Cli version = Cli.run(args.toArray(String[]::new));

        assertThat(version.code()).isZero();
        assertThat(version.out()).startsWith("idem ").doesNotContain("${");
    }
}
