package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands of Maven that pages and the continuous build give name modules that there are, and all that they need. */
@Tag("quick")
class BuildCommandsTest {
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
    private static final Pattern MODULES = Pattern.compile("-pl '?([^\\s'`]+)");
    private static final Pattern INSTALL = Pattern.compile("(?m)^mvn .*\\binstall\\b.*$");
    private static final Pattern ARTIFACT =
            Pattern.compile("<groupId>dev\\.idem</groupId>\\s*<artifactId>([^<]+)</artifactId>");
    private static final Pattern ADDED = Pattern.compile("(?m)^\\| (`idem-.*?) \\|");
    private static final String LANES = ".github/workflows/verify.yml";

    private final Path root = root();

    @Test
    void everyModuleThatIsNamedIsThere() throws IOException {
        Set<String> there = modules();
        List<String> missing = new ArrayList<>();
        for (Path page : pages()) {
            for (String module : named(Files.readString(page))) {
                if (!there.contains(module.replaceFirst("^!", "")) && !module.equals("*")) {
                    missing.add(root.relativize(page) + ": " + module);
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void theCommandsThatInstallBringWhatTheirPagesAskFor() throws IOException {
        String guide = text("docs/guide.md");
        Set<String> wanted = artifacts(guide);
        for (String row : found(ADDED, guide, 1).toList()) {
            found(Pattern.compile("`(idem-\\w+)`"), row, 1).forEach(wanted::add);
        }
        assertInstalls("docs/guide.md", wanted);
        Set<String> first = artifacts(text("README.md"));
        first.add("idem-test"); // by which the README says handlers are tested
        assertInstalls("README.md", first);
    }

    private void assertInstalls(String page, Set<String> wanted) throws IOException {
        List<String> commands = found(INSTALL, text(page), 0).toList();
        assertThat(commands).as(page).hasSize(1);
        assertThat(commands.get(0)).as("with what they depend on").contains(" -am", " -DskipTests");
        assertThat(wanted).as(page).isNotEmpty();
        assertThat(named(commands.get(0))).as(page).containsAll(wanted);
    }

    @Test
    void everyModuleWithTestsIsInALaneOfTheContinuousBuild() throws IOException {
        List<String> tested = modules().stream()
                .filter(module -> Files.isDirectory(root.resolve(module).resolve("src/test/java")))
                .toList();
        assertThat(tested).contains("idem-core", "interop", "examples/orders");
        assertThat(named(text(LANES))).containsAll(tested);
    }

    private static Set<String> named(String text) {
        return found(MODULES, text, 1)
                .flatMap(list -> Stream.of(list.split(",", -1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> artifacts(String text) {
        return found(ARTIFACT, text, 1).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> found(Pattern pattern, String text, int group) {
        Matcher matcher = pattern.matcher(text);
        return matcher.results().map((MatchResult result) -> result.group(group));
    }

    private Set<String> modules() throws IOException {
        Set<String> modules = new TreeSet<>();
        for (String module : found(MODULE, text("pom.xml"), 1).toList()) {
            modules.add(module);
            String inner = Files.readString(root.resolve(module).resolve("pom.xml"));
            found(MODULE, inner, 1).forEach(one -> modules.add(module + "/" + one));
        }
        return modules;
    }

    private List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(root);
                Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            Stream<Path> more =
                    Stream.of(LANES, "examples/README.md", ".ci/lanes.sh").map(root::resolve);
            return Stream.of(top, docs, more)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().matches(".*\\.(md|yml|sh)"))
                    .toList();
        }
    }

    private String text(String page) throws IOException {
        return Files.readString(root.resolve(page));
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("idem-bom"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
