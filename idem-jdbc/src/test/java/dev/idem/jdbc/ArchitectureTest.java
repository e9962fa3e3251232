package dev.idem.jdbc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which package may know which, and what users see. */
@Tag("quick")
class ArchitectureTest {
    private static final String ROOT = "dev.idem.jdbc";

    /** Each may use those before it. */
    private static final List<String> LAYERS = List.of(
            ROOT + ".schema",
            ROOT + ".internal.sql",
            ROOT + ".internal.guard",
            ROOT + ".internal.marker",
            ROOT + ".internal.queue",
            ROOT + ".internal.replay",
            ROOT + ".internal.retention",
            ROOT,
            ROOT + ".admin");

    private static final int LARGEST_PACKAGE = 40;

    private static final Set<String> PUBLIC = Set.of(
            "JdbcStore",
            "JdbcSchema",
            "JdbcConsumers",
            "JdbcRetention",
            "JdbcRecovery",
            "JdbcAudit",
            "JdbcInbox",
            "InboxOperator",
            "InboxAction",
            "InboxAnswer",
            "InboxFilter",
            "InboxMessage",
            "StateTransition",
            "VersionedUpsert",
            "InboxEdit",
            "InboxRevision",
            "JdbcReplays",
            "ReplayOperator",
            "Database",
            "SchemaMode",
            "WakeUp",
            "Finding");

    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    @Test
    void dependsOnTheCoreTheJdkAndTheLoggingApiOnly() {
        classes()
                .that()
                .resideInAPackage("dev.idem.jdbc..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.idem",
                        "dev.idem.queue",
                        "dev.idem.replay",
                        "dev.idem.sequence",
                        "dev.idem.spi",
                        "dev.idem.steps",
                        "dev.idem.jdbc..",
                        "java..",
                        "javax.sql..",
                        "org.slf4j..",
                        "org.jspecify..")
                .check(classes);
    }

    @ParameterizedTest
    @MethodSource("layers")
    void knowsNoPackageAboveIt(int layer) {
        String[] above = LAYERS.subList(layer + 1, LAYERS.size()).toArray(String[]::new);
        noClasses()
                .that()
                .resideInAPackage(LAYERS.get(layer))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(above)
                .check(classes);
    }

    static Stream<Integer> layers() {
        return IntStream.range(0, LAYERS.size() - 1).boxed();
    }

    @Test
    void hasSmallPackagesAndNoOthers() {
        Map<String, Long> files = classes.stream()
                .filter(JavaClass::isTopLevelClass)
                .collect(groupingBy(JavaClass::getPackageName, counting()));
        assertThat(files.keySet()).containsExactlyInAnyOrderElementsOf(LAYERS);
        assertThat(files).allSatisfy((name, count) -> assertThat(count).as(name).isLessThanOrEqualTo(LARGEST_PACKAGE));
    }

    @Test
    void showsOnlyWhatUsersMustName() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..internal..")
                .and()
                .areTopLevelClasses()
                .and(DescribedPredicate.describe(
                        "are not meant to be seen", type -> !PUBLIC.contains(type.getSimpleName())))
                .should()
                .bePublic()
                .check(classes);
    }
}
