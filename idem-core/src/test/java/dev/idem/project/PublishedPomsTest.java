package dev.idem.project;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What Maven Central asks of a pom and of what lies beside it, and what makes two builds give the same bytes. */
class PublishedPomsTest {
    private static final List<String> ASKED = List.of(
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");
    private static final String RELEASE = "/project/profiles/profile[id='release']/build/plugins/plugin";
    private static final Pattern EXPORT = Pattern.compile("(?m)^ *exports ([\\w.]+);");

    private final Pom root = Pom.root();

    @Test
    void everyPublishedPomSaysWhatMavenCentralAsks() {
        assertThat(Pom.jars()).hasSizeGreaterThan(5);
        for (Pom pom : withRoot(Pom.published())) {
            assertThat(pom.text("/project/name")).as("name in %s", pom).isNotEmpty();
            assertThat(pom.text("/project/description"))
                    .as("description in %s", pom)
                    .isNotEmpty();
            // What has no parent inherits nothing.
            Pom source = pom.text("/project/parent/artifactId").isEmpty() ? pom : root;
            for (String asked : ASKED) {
                assertThat(source.text("/project/" + asked))
                        .as("%s of %s", asked, pom)
                        .isNotEmpty();
            }
        }
    }

    /** Maven would add the name of each module to addresses that it inherits. */
    @Test
    void addressesAreInheritedAsTheyAre() {
        for (String address : List.of(
                "/project/@child.project.url.inherit.append.path",
                "/project/scm/@child.scm.connection.inherit.append.path",
                "/project/scm/@child.scm.developerConnection.inherit.append.path",
                "/project/scm/@child.scm.url.inherit.append.path")) {
            assertThat(root.text(address)).as(address).isEqualTo("false");
        }
    }

    @Test
    void thePomOfVersionsRepeatsWhatTheOthersInherit() {
        Pom bom = Pom.of(Pom.ROOT.resolve("idem-bom"));
        for (String repeated : List.of("version", "url", "licenses", "developers", "scm", "issueManagement")) {
            assertThat(bom.text("/project/" + repeated)).as(repeated).isEqualTo(root.text("/project/" + repeated));
        }
        for (String property : List.of("gpg.signer", "gpg-plugin.version", "central-publishing-plugin.version")) {
            String path = "/project/properties/" + property;
            assertThat(bom.text(path)).as(property).isNotEmpty().isEqualTo(root.text(path));
        }
        assertThat(bom.texts(RELEASE + "/artifactId"))
                .containsExactly("maven-gpg-plugin", "central-publishing-maven-plugin");
        assertThat(bom.texts("/project/dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(
                        Pom.jars().stream().map(Pom::name).toList());
    }

    @Test
    void aReleaseHasSourcesJavadocDependenciesAndSignatures() {
        assertThat(root.texts("/project/build/plugins/plugin[artifactId='maven-source-plugin']//goal"))
                .containsExactly("jar-no-fork");
        assertThat(root.texts(RELEASE + "/artifactId"))
                .contains(
                        "maven-javadoc-plugin",
                        "cyclonedx-maven-plugin",
                        "maven-gpg-plugin",
                        "central-publishing-maven-plugin");
        String javadoc = RELEASE + "[artifactId='maven-javadoc-plugin']//configuration/";
        assertThat(root.text(javadoc + "doclint")).isEqualTo("all,-missing");
        assertThat(root.text(javadoc + "failOnWarnings")).isEqualTo("true");
        assertThat(root.text(RELEASE + "[artifactId='central-publishing-maven-plugin']/configuration/skipPublishing"))
                .isEqualTo("${maven.deploy.skip}");
    }

    @Test
    void everyPublishedModuleHasAName() throws IOException {
        for (Pom pom : Pom.jars()) {
            boolean named = Files.exists(pom.folder().resolve("src/main/java/module-info.java"))
                    || !pom.text("/project/build/plugins/plugin//Automatic-Module-Name")
                            .isEmpty();
            assertThat(named).as("a module name in %s", pom).isTrue();
        }
    }

    @Test
    void everyJarHoldsLicenceAndNotice() throws Exception {
        String resource =
                "/project/build/resources/resource[targetPath='META-INF' and directory='${project.basedir}/..']";
        assertThat(root.texts(resource + "/includes/include")).containsExactly("LICENSE", "NOTICE");
        assertThat(root.texts(RELEASE + "[artifactId='maven-resources-plugin']//include"))
                .as("in the Javadoc")
                .containsExactly("LICENSE", "NOTICE");
        for (Pom pom : Pom.jars()) {
            assertThat(pom.texts("/project/build/resources"))
                    .as("own resources in %s", pom)
                    .isEmpty();
            assertThat(pom.folder().getParent()).isEqualTo(Pom.ROOT);
        }
        for (String name : List.of("LICENSE", "NOTICE")) {
            assertThat(classes().resolve("META-INF").resolve(name)).hasSameTextualContentAs(Pom.ROOT.resolve(name));
        }
    }

    @Test
    void nothingInAPomDependsOnTimeOrOnTheNewestPlugin() throws IOException {
        assertThat(Instant.parse(root.text("/project/properties/project.build.outputTimestamp")))
                .isNotNull();
        Set<String> managed =
                new HashSet<>(root.texts("/project/build/pluginManagement/plugins/plugin[version]/artifactId"));
        for (Pom pom : withRoot(Pom.modules())) {
            assertThat(Files.readString(pom.folder().resolve("pom.xml")))
                    .as("%s", pom)
                    .doesNotContain("maven.build.timestamp");
            assertThat(pom.texts("//plugins/plugin[not(version)]/artifactId"))
                    .as("plugins without a version in %s", pom)
                    .isSubsetOf(managed);
        }
    }

    /** What a module does not export may change: it is left out where the API is compared. */
    @Test
    void theApiIsWhatModulesExport() throws IOException {
        List<String> internal = new ArrayList<>();
        for (Pom pom : Pom.jars()) {
            Path sources = pom.folder().resolve("src/main/java");
            if (Files.exists(sources.resolve("module-info.java"))) {
                Set<String> packages = packages(sources);
                Matcher export = EXPORT.matcher(Files.readString(sources.resolve("module-info.java")));
                while (export.find()) {
                    packages.remove(export.group(1));
                }
                internal.addAll(packages);
            }
        }
        assertThat(root.texts("/project/profiles/profile[id='api']//exclude"))
                .containsExactlyInAnyOrderElementsOf(internal);
    }

    private static Set<String> packages(Path sources) throws IOException {
        Set<String> packages = new HashSet<>();
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> sources.relativize(file).getParent())
                    .filter(folder -> folder != null)
                    .forEach(folder -> packages.add(folder.toString().replace('/', '.')));
        }
        return packages;
    }

    private static Path classes() throws URISyntaxException {
        return Path.of(
                Inbox.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static List<Pom> withRoot(List<Pom> modules) {
        return Stream.concat(Stream.of(Pom.root()), modules.stream()).toList();
    }
}
