package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which database it is, and who asks, by options, the environment and a file. */
class SettingsTest {
    @TempDir
    Path home;

    @Test
    void theEnvironmentSaysItWithoutOptions() throws Exception {
        String url = "jdbc:h2:file:" + home.resolve("shop");
        Map<String, String> environment = Map.of("IDEM_URL", url, "IDEM_USER", "anna", "IDEM_PASSWORD", "secret22");
        assertThat(run(environment, "schema", "apply").code()).isZero();
        assertThat(run(environment, "consumer", "list").said()).contains("No consumer has been here yet");

        Answer other = run(environment, "consumer", "list", "--user", "bert");
        assertThat(other.code()).as("an option goes before").isEqualTo(ExitCodes.ERROR);
        assertThat(other.said()).contains("Check --user").doesNotContain("secret22");
    }

    @Test
    void aFileSaysItBehindTheEnvironment() throws Exception {
        Path file = Files.writeString(
                home.resolve("idem.conf"),
                "url=jdbc:h2:file:" + home.resolve("shop") + "\nuser=anna\npassword=secret22\n");
        assertThat(Cli.run("schema", "apply", "--config", file.toString()).code())
                .isZero();
        assertThat(Cli.run("consumer", "list", "--config", file.toString()).out())
                .contains("No consumer has been");
        Answer named = run(Map.of("IDEM_CONFIG", file.toString()), "consumer", "list");
        assertThat(named.code()).isZero();
        Files.copy(file, home.resolve(".idem.properties"));
        Answer unnamed = run(Map.of(), "consumer", "list");
        assertThat(unnamed.code()).as("the one at home").isZero();
        Answer guessed = run(Map.of("IDEM_PASSWORD", "guess22"), "consumer", "list");
        assertThat(guessed.code()).as("the environment goes before").isEqualTo(ExitCodes.ERROR);
        assertThat(guessed.said()).doesNotContain("guess22");
    }

    @Test
    void whatIsMissingIsSaid() throws Exception {
        Cli unsaid =
                Cli.run("consumer", "list", "--config", home.resolve("none").toString());
        assertThat(unsaid.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(unsaid.err()).contains("could not be read", "--config");
        Answer nothing = run(Map.of(), "consumer", "list");
        assertThat(nothing.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(nothing.said()).contains("--url, IDEM_URL", "--config");
    }

    @Test
    void secretsOfTheFileAreHidden() throws Exception {
        Path file = Files.writeString(home.resolve("idem.conf"), "url=jdbc:none://u:canary22@h/x?password=canary33");
        Cli refused = Cli.run("consumer", "list", "--config", file.toString(), "--verbose");
        assertThat(refused.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(refused.err()).doesNotContain("canary");
    }

    private record Answer(int code, String said) {}

    /** In a process of its own, whose environment is its own as well. */
    private Answer run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Duser.home=" + home,
                "-XX:TieredStopAtLevel=1",
                Main.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().keySet().removeIf(name -> name.startsWith("IDEM_"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Answer(process.exitValue(), said);
    }
}
