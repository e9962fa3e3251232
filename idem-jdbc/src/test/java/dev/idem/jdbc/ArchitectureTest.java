package dev.idem.jdbc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The walls of this room. */
@Tag("quick")
class ArchitectureTest {
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
            .importPackages("dev.idem.jdbc");

    @Test
    void dependsOnTheCoreTheJdkAndTheLoggingApiOnly() {
        classes()
                .that()
                .resideInAPackage("dev.idem.jdbc..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.idem",
                        "dev.idem.spi",
                        "dev.idem.jdbc..",
                        "java..",
                        "javax.sql..",
                        "org.slf4j..",
                        "org.jspecify..")
                .check(classes);
    }

    @Test
    void showsOnlyWhatUsersMustName() {
        noClasses()
                .that()
                .resideInAPackage("dev.idem.jdbc..")
                .and()
                .areTopLevelClasses()
                .and(com.tngtech.archunit.base.DescribedPredicate.describe(
                        "are not meant to be seen", type -> !PUBLIC.contains(type.getSimpleName())))
                .should()
                .bePublic()
                .check(classes);
    }
}
