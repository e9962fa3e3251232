package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keeps docs/pitfalls.md honest: it says exactly which tests name which pitfall. */
@Tag("quick")
class PitfallsDocTest {
    private static final Pattern ROW = Pattern.compile("\\| ([A-Z]{2}-\\d\\d) \\| (.+?) \\| (.+?) \\|");
    private static final Pattern ID =
            Pattern.compile("\\b((?:PC|PG|MY|EM|RD|KF|MQ|LS|HX|RO|RP|KY|HT|SE|OP)-\\d\\d)\\b");
    private static final int CATALOGUE = 200;

    private final Path root = ProjectRoot.find();

    @Test
    void thePageSaysWhichTestCoversWhichPitfall() throws IOException {
        Path page = root.resolve("docs/pitfalls.md");
        Map<String, TreeSet<String>> covered = covered();
        List<String> written = Files.readAllLines(page);
        List<String> right =
                written.stream().map(line -> corrected(line, covered)).toList();
        if (Boolean.getBoolean("idem.docs.write")) {
            Files.write(page, right);
            written = right;
        }
        List<String> wrong = new ArrayList<>(written);
        wrong.removeAll(right);
        assertThat(wrong)
                .as("rows that say something else than the tests; see the top of the page")
                .isEmpty();
    }

    @Test
    void thePageListsTheWholeCatalogueAndTestsNameNothingElse() throws IOException {
        TreeSet<String> listed = new TreeSet<>();
        for (String line : Files.readAllLines(root.resolve("docs/pitfalls.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                assertThat(listed.add(row.group(1))).as(row.group(1)).isTrue();
            }
        }
        assertThat(listed).hasSize(CATALOGUE).containsAll(covered().keySet());
    }

    private static String corrected(String line, Map<String, TreeSet<String>> covered) {
        Matcher row = ROW.matcher(line);
        if (!row.matches()) {
            return line;
        }
        TreeSet<String> tests = covered.get(row.group(1));
        String where = tests != null ? String.join(", ", tests) : keptReason(row.group(3));
        return "| " + row.group(1) + " | " + row.group(2) + " | " + where + " |";
    }

    /** A reason given by hand stays; names of tests that are gone do not. */
    private static String keptReason(String written) {
        return written.startsWith("not yet") || written.startsWith("documented") ? written : "not yet";
    }

    /** Test classes, and the published contracts, by the ids they name; a class stands for its file. */
    private Map<String, TreeSet<String>> covered() throws IOException {
        Map<String, TreeSet<String>> covered = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(this::isTest).toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                Matcher id = ID.matcher(Files.readString(file));
                while (id.find()) {
                    if (!id.group(1).startsWith("UTF")) {
                        covered.computeIfAbsent(id.group(1), k -> new TreeSet<>())
                                .add(name);
                    }
                }
            }
        }
        return covered;
    }

    private boolean isTest(Path file) {
        String path = root.relativize(file).toString();
        boolean source = path.contains("src/test/java") || path.startsWith("idem-test/src/main/java");
        return source
                && (path.endsWith("Test.java") || path.endsWith("Contract.java") || path.endsWith("Defects.java"));
    }
}
