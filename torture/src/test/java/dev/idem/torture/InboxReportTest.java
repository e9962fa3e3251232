package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a campaign of the inbox says in the end: every number under its own words, and no failure that looks like a success. */
@Tag("quick")
class InboxReportTest {
    /** As it should end: what is parked was planned, or is because its code has changed; what is held was planned. */
    private static final Map<String, Integer> RIGHT = Map.ofEntries(
            entry("messages", 10_000),
            entry("deliveries", 18_000),
            entry("duplicates", 8_000),
            entry("jvmKills", 15),
            entry("pauses", 7),
            entry("databaseKills", 2),
            entry("cuts", 31),
            entry("clockJumps", 5),
            entry("parked", 24),
            entry("parkedPlanned", 20),
            entry("stepsChanged", 4),
            entry("settled", 12),
            entry("held", 9),
            entry("heldPlanned", 9));

    @Test
    void everyNumberStandsUnderItsOwnWords() throws Exception {
        InboxReport report = report(Map.of());
        assertThat(report.isFlawless()).isTrue();
        assertThat(report.rows())
                .containsExactly(
                        entry("messages", 10_000L),
                        entry("deliveries", 18_000L),
                        entry("JVM kills", 15L),
                        entry("pauses beyond the lease", 7L),
                        entry("database kills", 2L),
                        entry("connections cut", 31L),
                        entry("jumps of the clock", 5L),
                        entry("parked, of 20 planned", 20L),
                        entry("parked, code changed", 4L),
                        entry("calls settled by a person", 12L),
                        entry("held, of 9 planned", 9L),
                        entry("lost", 0L),
                        entry("doubled", 0L),
                        entry("called twice", 0L),
                        entry("out of order", 0L));
    }

    @Test
    void itsTableSaysWhatIsProvenAndHowToDoItAgain() throws Exception {
        List<String> lines = TortureTable.of(report(Map.of())).lines().toList();
        assertThat(lines)
                .contains("  messages                         10,000", "  lost                                  0");
        assertThat(lines.get(lines.size() - 1))
                .contains("Every message has taken effect exactly once, and in order.")
                .endsWith("The same again: ./idem torture inbox --seed 42");
    }

    @ParameterizedTest
    @CsvSource({
        "lost, 1, lost",
        "doubled, 2, doubled",
        "calledTwice, 3, called twice",
        "outOfOrder, 4, out of order",
        "crashes, 5, workers that crashed",
        "unfinished, 6, unfinished",
        "unacknowledged, 7, never accepted"
    })
    void whatMustNotHappenIsTold(String component, int number, String words) throws Exception {
        InboxReport report = report(Map.of(component, number));
        assertThat(report.isFlawless()).isFalse();
        assertThat(report.rows()).containsEntry(words, (long) number);
        assertThat(TortureTable.of(report)).contains("FAILED.").doesNotContain(report.promise());
    }

    @ParameterizedTest
    @ValueSource(ints = {23, 25})
    void whatIsParkedAgainstThePlanIsNoSuccess(int parked) throws Exception {
        InboxReport report = report(Map.of("parked", parked));
        assertThat(report.isFlawless()).isFalse();
        assertThat(report.rows()).containsEntry("parked, of 20 planned", parked - 4L);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 10})
    void whatIsHeldAgainstThePlanIsNoSuccess(int held) throws Exception {
        InboxReport report = report(Map.of("held", held));
        assertThat(report.isFlawless()).isFalse();
        assertThat(report.rows()).containsEntry("held, of 9 planned", (long) held);
    }

    private static InboxReport report(Map<String, Integer> changed) throws Exception {
        List<Object> values = new ArrayList<>();
        List<Class<?>> types = new ArrayList<>();
        for (RecordComponent component : InboxReport.class.getRecordComponents()) {
            String name = component.getName();
            int number = changed.getOrDefault(name, RIGHT.getOrDefault(name, 0));
            types.add(component.getType());
            values.add(
                    component.getType() == String.class
                            ? name.equals("repeat") ? "./idem torture inbox --seed 42" : name
                            : component.getType() == int.class
                                    ? (Object) number
                                    : component.getType() == long.class
                                            ? (Object) (long) number
                                            : (Object) (double) number);
        }
        return InboxReport.class
                .getDeclaredConstructor(types.toArray(Class<?>[]::new))
                .newInstance(values.toArray());
    }
}
