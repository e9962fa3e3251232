package dev.idem.project;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What contributors and users look for beside the code, and how CI runs it. */
class ProjectFilesTest {
    private static final Pattern USES = Pattern.compile("(?m)^[ -]*uses: *(.*)$");
    /** A tag can be moved to other code by whoever owns it, a commit cannot. The comment says what the commit is. */
    private static final String PINNED = "[\\w.-]+/[\\w./-]+@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+";

    private static final Pattern RUN = Pattern.compile("(?m)^[ -]*run: *(.*)$");
    private static final Pattern RELEASED = Pattern.compile("(?m)^## \\[(\\d[^\\]]*)]");

    private final Path root = Pom.ROOT;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LICENSE",
                "NOTICE",
                "README.md",
                "CHANGELOG.md",
                "CONTRIBUTING.md",
                "CODE_OF_CONDUCT.md",
                "SECURITY.md",
                ".github/PULL_REQUEST_TEMPLATE.md",
                ".github/ISSUE_TEMPLATE/bug.yml",
                ".github/ISSUE_TEMPLATE/config.yml",
                ".github/ISSUE_TEMPLATE/feature.yml",
                ".github/dependabot.yml",
                ".github/workflows/codeql.yml",
                ".github/workflows/release.yml",
                ".github/workflows/verify.yml"
            })
    void fileIsThere(String name) {
        assertThat(root.resolve(name)).isNotEmptyFile();
    }

    @ParameterizedTest
    @ValueSource(strings = {"idem", "verify", ".ci/api", ".ci/release", ".ci/reproducible", ".ci/run"})
    void scriptIsExecutable(String name) {
        assertThat(root.resolve(name)).isExecutable();
    }

    @Test
    void everyActionIsPinnedByACommit() throws IOException {
        for (Path workflow : workflows()) {
            List<String> uses = all(USES, Files.readString(workflow));
            assertThat(uses).as("actions of %s", workflow.getFileName()).isNotEmpty();
            assertThat(uses).as("actions of %s", workflow.getFileName()).allMatch(used -> used.matches(PINNED));
        }
    }

    /** All of it through the scripts, which fail for a missing server; and what a pull request may do is to read. */
    @Test
    void noWorkflowSkipsATestOrMayWrite() throws IOException {
        for (Path workflow : workflows()) {
            String text = Files.readString(workflow);
            assertThat(all(RUN, text)).as("%s", workflow.getFileName()).noneMatch(run -> run.contains("mvn"));
            assertThat(text)
                    .contains("\npermissions:\n  contents: read\n")
                    .doesNotContain("pull_request_target", "skipTests", "maven.test.skip");
        }
        String verify = Files.readString(root.resolve(".github/workflows/verify.yml"));
        assertThat(all(RUN, verify))
                .contains(".ci/run", ".ci/run --quick", ".ci/run --long", ".ci/reproducible", ".ci/api");
        String release = Files.readString(root.resolve(".github/workflows/release.yml"));
        assertThat(all(RUN, release))
                .containsSubsequence(".ci/run", ".ci/reproducible", ".ci/api", ".ci/release \"$GITHUB_REF_NAME\"");
        assertThat(release).contains("\n    needs: verify\n");
    }

    /** From the commit after a release on, the API is compared with it. */
    @Test
    void theApiIsComparedWithTheLastReleaseOfTheChangelog() throws IOException {
        Pom pom = Pom.root();
        String present = pom.text("/project/version");
        String last = all(RELEASED, Files.readString(root.resolve("CHANGELOG.md"))).stream()
                .filter(version -> !version.equals(present))
                .findFirst()
                .orElse("");
        assertThat(pom.text("/project/properties/idem.released.version")).isEqualTo(last);
    }

    private List<Path> workflows() throws IOException {
        try (Stream<Path> files = Files.list(root.resolve(".github/workflows"))) {
            return files.sorted().toList();
        }
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }
}
