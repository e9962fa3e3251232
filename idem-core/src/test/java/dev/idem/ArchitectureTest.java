package dev.idem;

import static com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT;
import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.idem.join.JoinedInbox;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final JavaClasses CORE = new ClassFileImporter()
            .importUrl(Inbox.class.getProtectionDomain().getCodeSource().getLocation());

    /** What users, stores and adapters see. These name each other's types, and count as one. */
    private static final Set<String> API = Set.of(
            "dev.idem",
            "dev.idem.batch",
            "dev.idem.join",
            "dev.idem.queue",
            "dev.idem.sequence",
            "dev.idem.steps",
            "dev.idem.replay",
            "dev.idem.spi",
            "dev.idem.broker",
            "dev.idem.broker.spi");

    /** What nobody outside sees. Each may use the API and those before it. */
    private static final List<String> MACHINE = Stream.of(
                    "text",
                    "incident",
                    "thread",
                    "key",
                    "consumer",
                    "event",
                    "outbox",
                    "unit",
                    "batch",
                    "queue",
                    "steps",
                    "worker",
                    "replay",
                    "inbox")
            .map(name -> "dev.idem.internal." + name)
            .toList();

    /** They use nothing, so that the API may use them too. */
    private static final List<String> LEAVES = MACHINE.subList(0, 2);

    /** Builders of the API that make what the machine implements. */
    private static final Map<String, Set<String>> ENTRANCES = Map.of(
            "dev.idem.Inbox$Builder",
            Set.of("dev.idem.internal.inbox.StoreInbox", "dev.idem.internal.unit.InboxOptions"),
            "dev.idem.replay.Replayer$Builder",
            Set.of("dev.idem.internal.replay.ReplayLoop"));

    @Test
    void theCoreNeedsTheJdkAndTwoSmallLibraries() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.idem..", "java..", "javax.crypto..", "javax.sql", "org.slf4j", "org.jspecify..")
                .check(CORE);
    }

    @Test
    void everyPackageIsOnTheMapAndSmall() {
        Map<String, Long> sizes = CORE.stream()
                .filter(JavaClass::isTopLevelClass)
                .filter(type -> !type.getPackageName().isEmpty())
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(sizes.keySet())
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(API.stream(), MACHINE.stream()).toList());
        assertThat(sizes).allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(40));
    }

    @Test
    void packagesUseOnlyThoseBeforeThem() {
        Set<String> wrong = new TreeSet<>();
        for (JavaClass type : CORE) {
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getPackageName().startsWith("dev.idem"))
                    .filter(target -> !isAllowed(type, target))
                    .forEach(target -> wrong.add(type.getName() + " uses " + target.getName()));
        }
        assertThat(wrong).isEmpty();
    }

    private static boolean isAllowed(JavaClass type, JavaClass target) {
        boolean upwards = rank(target) > rank(type);
        boolean leaf = LEAVES.contains(target.getPackageName());
        return !upwards
                || leaf
                || ENTRANCES.getOrDefault(type.getName(), Set.of()).contains(target.getName());
    }

    /** The API is below the whole machine. */
    private static int rank(JavaClass type) {
        return MACHINE.indexOf(type.getPackageName());
    }

    @Test
    void textsAndIncidentsUseNothing() {
        for (String leaf : LEAVES) {
            classes()
                    .that()
                    .resideInAPackage(leaf)
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(leaf, "java..", "org.slf4j", "org.jspecify..")
                    .check(CORE);
        }
    }

    @Test
    void theInboxKnowsNoBrokers() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.idem.broker..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.idem.broker..")
                .check(CORE);
        noClasses()
                .that()
                .resideInAPackage("dev.idem.broker")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.idem.broker.spi")
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
                .haveRawType(Duration.class)
                .orShould()
                .haveRawType("dev.idem.spi.FaultHook")
                .orShould()
                .haveRawType("dev.idem.spi.OuterTransactions")
                .orShould()
                .haveRawType("dev.idem.internal.unit.Rescue")
                .orShould()
                .haveRawType("dev.idem.RetryPolicy")
                .check(CORE);
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
    void theModuleExportsTheApiAlone() throws Exception {
        Path classes = Path.of(
                Inbox.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleDescriptor module =
                ModuleFinder.of(classes).find("dev.idem.core").orElseThrow().descriptor();
        assertThat(module.exports())
                .filteredOn(exported -> !exported.isQualified())
                .extracting(ModuleDescriptor.Exports::source)
                .containsExactlyInAnyOrderElementsOf(API);
        assertThat(module.exports())
                .filteredOn(ModuleDescriptor.Exports::isQualified)
                .singleElement()
                .satisfies(kit -> {
                    assertThat(kit.source()).isEqualTo("dev.idem.internal.consumer");
                    assertThat(kit.targets()).containsExactly("dev.idem.test");
                });
        assertThat(module.requires())
                .extracting(ModuleDescriptor.Requires::name)
                .containsExactlyInAnyOrder("java.base", "java.net.http", "java.sql", "org.slf4j", "org.jspecify");
        assertThat(module.opens()).isEmpty();
    }
}
