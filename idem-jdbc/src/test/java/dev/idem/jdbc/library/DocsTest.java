package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.schema.Database;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps the pages true. A block of Java after {@code <!-- snippet: name -->} must be the region of that name in a compiled
 * source; a block of SQL after {@code <!-- schema: database -->} must be the shipped script; a link to a file must lead to
 * one, and one to a heading to such a heading; the page on architecture names types that are there.
 */
class DocsTest {
    private static final Pattern REGION = Pattern.compile("(?s)// region (\\S+)\\n(.*?)\\n[ \\t]*// endregion");
    private static final Pattern SNIPPET =
            Pattern.compile("(?s)<!-- (snippet|schema): (\\S+) -->\\s*```\\w+\\n(.*?)```");
    private static final Pattern MARK = Pattern.compile("<!-- (?:snippet|schema): ");
    /** What is marked for the newcomer is compiled and run by its test, in a project of its own. */
    private static final Pattern SHOWN = Pattern.compile("<!-- (?:snippet: |newcomer: \\w+\\.java)");

    private static final Pattern JAVA_BLOCK = Pattern.compile("(?m)^```java");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|record|interface|enum) ([A-Z]\\w*)");
    private static final Pattern NAMED_TYPE = Pattern.compile("`([A-Z][a-z]\\w*)(?:\\.\\w+)?(?:\\([^`\n]*\\))?`");
    private static final Pattern ANCHOR = Pattern.compile("]\\(([^)#\\s:]*)#([^)]*)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.*)$");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s:]+)(?:#[^)]*)?\\)");

    private final Path root = projectRoot();

    @Test
    void everySnippetIsARegionOfCompiledCode() throws IOException {
        Map<String, String> regions = regions();
        int marks = 0;
        for (Path page : pages()) {
            String text = Files.readString(page);
            Matcher snippet = SNIPPET.matcher(text);
            int found = 0;
            while (snippet.find()) {
                found++;
                String expected = snippet.group(1).equals("schema")
                        ? JdbcSchema.script(database(snippet.group(2)), null, JdbcSchema.DEFAULT_PREFIX)
                        : regions.get(snippet.group(2));
                assertThat(expected)
                        .as("region %s, shown in %s", snippet.group(2), page)
                        .isNotNull();
                assertThat(normal(snippet.group(3)))
                        .as("%s in %s", snippet.group(2), page)
                        .isEqualTo(normal(expected));
            }
            assertThat(count(MARK, text))
                    .as("marks without a block in %s", page)
                    .isEqualTo(found);
            marks += found;
        }
        assertThat(marks).isPositive();
    }

    @Test
    void readmeAndGuideShowNoJavaThatIsNotCompiled() throws IOException {
        for (String name : List.of("README.md", "docs/guide.md")) {
            String text = Files.readString(root.resolve(name));
            assertThat(count(JAVA_BLOCK, text)).as(name).isEqualTo(count(SHOWN, text));
        }
    }

    @Test
    void everyLinkToAFileLeadsToOne() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                if (!Files.exists(page.resolveSibling(link.group(1)))) {
                    broken.add(root.relativize(page) + " -> " + link.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void everyLinkToAHeadingLeadsToOne() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            Matcher link = ANCHOR.matcher(Files.readString(page));
            while (link.find()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                if (target.toString().endsWith(".md") && !headings(target).contains(link.group(2))) {
                    broken.add(root.relativize(page) + " -> " + link.group());
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    /** As a browser is given them: lower case, without punctuation, with hyphens for spaces. */
    private static Set<String> headings(Path page) throws IOException {
        Set<String> found = new HashSet<>();
        Matcher heading = HEADING.matcher(Files.readString(page));
        while (heading.find()) {
            found.add(heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-'));
        }
        return found;
    }

    @Test
    void everyTypeThatThePageOnArchitectureNamesIsThere() throws IOException {
        Set<String> known = new HashSet<>(List.of("BatchUpdateException")); // of JDBC
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(DocsTest::isSource).toList()) {
                Matcher type = TYPE.matcher(Files.readString(file));
                while (type.find()) {
                    known.add(type.group(1));
                }
            }
        }
        List<String> unknown = new ArrayList<>();
        Matcher named = NAMED_TYPE.matcher(Files.readString(root.resolve("docs/architecture.md")));
        while (named.find()) {
            if (!known.contains(named.group(1))) {
                unknown.add(named.group(1));
            }
        }
        assertThat(unknown).isEmpty();
    }

    private Map<String, String> regions() throws IOException {
        Map<String, String> regions = new HashMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(DocsTest::isSource).toList()) {
                Matcher region = REGION.matcher(Files.readString(file));
                while (region.find()) {
                    String other = regions.put(region.group(1), region.group(2));
                    assertThat(other)
                            .as("second region %s, in %s", region.group(1), file)
                            .isNull();
                }
            }
        }
        return regions;
    }

    private static boolean isSource(Path file) {
        return file.toString().endsWith(".java") && file.toString().contains("/src/");
    }

    private List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(root);
                Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            Stream<Path> examples = Stream.of(root.resolve("examples/README.md"));
            return Stream.of(top, docs, examples)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    private static Database database(String label) {
        return Stream.of(Database.values())
                .filter(database -> database.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no database " + label));
    }

    /** Layout does not count: the formatter and the page break lines in different places. */
    private static String normal(String code) {
        return code.replaceAll("\\s+", "");
    }

    private static long count(Pattern pattern, String text) {
        return pattern.matcher(text).results().count();
    }

    private static Path projectRoot() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("idem-bom"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
