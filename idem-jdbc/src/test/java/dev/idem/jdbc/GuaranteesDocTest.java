package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.spi.FaultPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keeps docs/guarantees.md honest: every promise names a test that exists, and every step of a unit has its row. */
@Tag("quick")
class GuaranteesDocTest {
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|Contract))`");
    private final Path root = ProjectRoot.find();
    private final String page = read(root.resolve("docs/guarantees.md"));

    @Test
    void everyTestItNamesExists() throws IOException {
        Set<String> named = new TreeSet<>();
        Matcher matcher = TEST.matcher(page);
        while (matcher.find()) {
            named.add(matcher.group(1) + ".java");
        }
        try (Stream<Path> files = Files.walk(root)) {
            Set<String> sources = files.filter(f -> f.toString().contains("/src/"))
                    .map(f -> f.getFileName().toString())
                    .collect(Collectors.toSet());
            assertThat(named).isNotEmpty();
            assertThat(sources).containsAll(named);
        }
    }

    @Test
    void everyPromiseInATableWithATestColumnNamesOne() {
        boolean tested = false;
        for (String line : page.split("\n")) {
            if (!line.startsWith("|")) {
                tested = false;
            } else if (line.endsWith("| Test |")) {
                tested = true;
            } else if (tested && !line.startsWith("|--")) {
                assertThat(line).containsPattern(TEST);
            }
        }
    }

    @Test
    void everyStepOfAUnitHasItsRow() {
        assertThat(page)
                .contains(Arrays.stream(FaultPoint.values())
                        .map(step -> "`" + step + "`")
                        .toList());
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
