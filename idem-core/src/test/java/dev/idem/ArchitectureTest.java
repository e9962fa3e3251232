package dev.idem;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT;
import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.core.domain.JavaModifier.PUBLIC;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final JavaClasses CORE = new ClassFileImporter()
            .importUrl(Inbox.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void theCoreNeedsTheJdkAndTwoSmallLibraries() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.idem",
                        "dev.idem.broker",
                        "dev.idem.incident",
                        "dev.idem.spi",
                        "java..",
                        "javax.crypto..",
                        "javax.sql",
                        "org.slf4j",
                        "org.jspecify..")
                .check(CORE);
    }

    /**
     * Two of the packages are one API in two rooms: users type the one, stores implement the other, and they name each
     * other's types (a store throws {@code BrokenTransactionException}, an inbox is built on a {@code MarkerStore}). What the
     * adapters of brokers share stands in front of them, and neither knows it. What tells of incidents is behind all of them,
     * is exported to nobody, and knows none of them.
     */
    @Test
    void thereAreThreePackagesAndOneThatNobodySees() {
        assertThat(CORE.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("dev.idem", "dev.idem.broker", "dev.idem.incident", "dev.idem.spi");
    }

    @Test
    void theInboxKnowsNoBrokers() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.idem", "dev.idem.spi")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.idem.broker"))
                .check(CORE);
        noClasses()
                .that()
                .resideInAPackage("dev.idem.broker")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.idem").and(not(modifier(PUBLIC))))
                .check(CORE);
    }

    @Test
    void whatTellsOfIncidentsKnowsNobody() {
        noClasses()
                .that()
                .resideInAPackage("dev.idem.incident")
                .should()
                .dependOnClassesThat(resideInAnyPackage("dev.idem", "dev.idem.broker", "dev.idem.spi"))
                .check(CORE);
    }

    @Test
    void theSpiUsesOnlyWhatUsersCanSee() {
        noClasses()
                .that()
                .resideInAPackage("dev.idem.spi")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.idem").and(not(modifier(PUBLIC))))
                .check(CORE);
    }

    @Test
    @DisplayName("HX-16 nothing static can change, so two inboxes in one JVM cannot mix")
    void noMutableStatics() {
        fields().that().areStatic().should().beFinal().check(CORE);
        fields().that()
                .areStatic()
                .and()
                .arePublic()
                .and()
                .areDeclaredInClassesThat()
                .areNotEnums()
                .should()
                .haveRawType(int.class)
                .orShould()
                .haveRawType(long.class)
                .orShould()
                .haveRawType(String.class)
                .orShould()
                .haveRawType("dev.idem.spi.StepHook")
                .orShould()
                .haveRawType("dev.idem.spi.OuterTransactions")
                .orShould()
                .haveRawType("dev.idem.Rescue")
                .orShould()
                .haveRawType("dev.idem.RetryPolicy")
                .check(CORE);
    }

    @Test
    void whatUsersNeedNotNameIsHidden() {
        Set<String> hidden = CORE.stream()
                .filter(c -> c.isTopLevelClass() && !c.getModifiers().contains(PUBLIC))
                .map(JavaClass::getSimpleName)
                .filter(name -> !name.equals("package-info") && !name.equals("module-info"))
                .collect(Collectors.toSet());
        assertThat(hidden)
                .contains(
                        "Attempt",
                        "Backoff",
                        "CloudEventHeaders",
                        "Deadlines",
                        "Events",
                        "Failures",
                        "KeyEncoding",
                        "KeyGate",
                        "Keyed",
                        "Nesting",
                        "OuterInbox",
                        "RunningTransaction",
                        "StoreInbox",
                        "Text",
                        "UnitRunner",
                        "Verdict");
    }

    /** Its retention is CLASS, so that it is in the class files that users compile against. */
    @Test
    void noAnswerMayBeOverlooked() {
        methods()
                .that()
                .areDeclaredIn(Inbox.class)
                .or()
                .areDeclaredIn(JoinedInbox.class)
                .and()
                .haveNameMatching("process|run|accept|acceptAll|park")
                .should()
                .beAnnotatedWith(CheckReturnValue.class)
                .check(CORE);
    }

    @Test
    void classesAreFinalUnlessTheyAreExceptions() {
        classes()
                .that()
                .areNotInterfaces()
                .and()
                .areNotAssignableTo(IdemException.class)
                .and()
                .areNotAssignableTo(RetryableException.class)
                .and()
                .areNotAssignableTo(TerminalException.class)
                .and()
                .areNotAnonymousClasses()
                .and()
                .doNotHaveModifier(ABSTRACT)
                .should()
                .haveModifier(FINAL)
                .check(CORE);
    }

    @Test
    void theModuleExportsExactlyItsPackages() throws Exception {
        Path classes = Path.of(
                Inbox.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleDescriptor module =
                ModuleFinder.of(classes).find("dev.idem.core").orElseThrow().descriptor();
        assertThat(module.exports()).allMatch(exported -> !exported.isQualified());
        assertThat(module.exports())
                .extracting(ModuleDescriptor.Exports::source)
                .containsExactlyInAnyOrder("dev.idem", "dev.idem.broker", "dev.idem.spi");
        assertThat(module.requires())
                .extracting(ModuleDescriptor.Requires::name)
                .containsExactlyInAnyOrder("java.base", "java.net.http", "java.sql", "org.slf4j", "org.jspecify");
        assertThat(module.opens()).isEmpty();
    }
}
