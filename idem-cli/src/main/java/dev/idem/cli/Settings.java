package dev.idem.cli;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the environment and a file say of the database, for those who do not want to type it each time. */
final class Settings {
    static final String OPTION = "--config";
    private static final String VARIABLE = "IDEM_CONFIG";
    private static final String AT_HOME = ".idem.properties";

    private final Properties file;

    private Settings(Properties file) {
        this.file = file;
    }

    /** Those of this file, or of the one that is read without being named. */
    static Settings of(@Nullable Path named) {
        Properties file = new Properties();
        Path path = named != null ? named : unnamed();
        if (path != null) {
            try (Reader reader = Files.newBufferedReader(path)) {
                file.load(reader);
            } catch (IOException | IllegalArgumentException unreadable) {
                throw new CliException(
                        "The file " + path + " could not be read", "Check " + OPTION + " or " + VARIABLE, unreadable);
            }
        }
        return new Settings(file);
    }

    private static @Nullable Path unnamed() {
        String variable = System.getenv(VARIABLE);
        if (variable != null && !variable.isBlank()) {
            return Path.of(variable);
        }
        Path home = Path.of(System.getProperty("user.home"), AT_HOME);
        return Files.isRegularFile(home) ? home : null;
    }

    Optional<String> url() {
        return value("IDEM_URL", "url");
    }

    Optional<String> user() {
        return value("IDEM_USER", "user");
    }

    Optional<String> password() {
        return value("IDEM_PASSWORD", "password");
    }

    private Optional<String> value(String variable, String name) {
        return Stream.of(Optional.ofNullable(System.getenv(variable)), Optional.ofNullable(file.getProperty(name)))
                .flatMap(Optional::stream)
                .filter(value -> !value.isBlank())
                .findFirst();
    }

    /** What must not be quoted; nothing of a file that cannot be read. */
    static List<String> secrets(@Nullable String named) {
        try {
            Settings settings = of(named == null ? null : Path.of(named));
            return Stream.of(settings.password(), settings.url())
                    .flatMap(Optional::stream)
                    .toList();
        } catch (RuntimeException unreadable) {
            return List.of();
        }
    }
}
