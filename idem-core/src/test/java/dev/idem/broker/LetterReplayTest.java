package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.spi.Audit;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LetterReplayTest {
    private final List<String> sent = new ArrayList<>();
    private final List<String> audit = new ArrayList<>();
    private final Audit auditing = (consumer, action, actor, reason, detail) ->
            audit.add(consumer + " " + action + " " + actor + " " + reason + " " + detail);

    private DeadLetters letters(Letter... all) {
        return new DeadLetters() {
            private int next;

            @Override
            public Optional<Letter> next() {
                if (next < all.length && all[next].place().equals("unreadable")) {
                    throw new IdemException("the connection is gone", null);
                }
                return next < all.length ? Optional.of(all[next++]) : Optional.empty();
            }

            @Override
            public void sendAgain(Letter letter) {
                if (letter.place().equals("broken")) {
                    throw new IdemException("no broker", new IllegalStateException("refused"));
                }
                sent.add(letter.place());
            }

            @Override
            public Optional<Long> size() {
                return Optional.of((long) all.length);
            }

            @Override
            public void close() {}
        };
    }

    private static Letter letter(String place, String consumer, boolean forbidden) {
        return letter(place, consumer, forbidden, "orders");
    }

    private static Letter letter(String place, String consumer, boolean forbidden, String origin) {
        DeadLetter about = new DeadLetter(
                consumer,
                "FAILED",
                Optional.empty(),
                Optional.of("a.b.Oops"),
                1,
                Instant.EPOCH,
                forbidden,
                Map.of("queue", origin));
        return new Letter(place, Message.builder().id("id-" + place).type("t").build(), about);
    }

    @Test
    void sendsWhatIsMeantAndWritesItDown() {
        DeadLetters all = letters(letter("1", "a", false), letter("2", "b", false), letter("3", "a", false));
        var report = LetterReplay.of(LetterFilter.all().consumer("a").error("Oops"))
                .perSecond(1000)
                .as("anna", "repaired", auditing)
                .run(all, progress -> {});
        assertThat(sent).containsExactly("1", "3");
        assertThat(report)
                .isEqualTo(new LetterReplay.Report(
                        3, 2, 0, 0, Map.of("a", 2L), Map.of("orders", 2L), Map.of(), List.of()));
        assertThat(audit)
                .containsExactly(
                        "a REPLAY anna repaired begins at 1", "a REPLAYED anna repaired 2 dead letters sent again");
    }

    @Test
    void aDryRunSendsNothing() {
        var report =
                LetterReplay.of(LetterFilter.all()).dryRun(letters(letter("1", "a", false), letter("2", "b", true)));
        assertThat(report)
                .isEqualTo(new LetterReplay.Report(
                        2, 1, 1, 0, Map.of("a", 1L), Map.of("orders", 1L), Map.of(), List.of()));
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("RP-03 letters of a consumer that forbids replays stay, unless a person insists")
    void forbidden() {
        LetterReplay replay = LetterReplay.of(LetterFilter.all()).perSecond(1000);
        assertThat(replay.as("anna", "why", auditing)
                        .run(letters(letter("1", "a", true)), p -> {})
                        .forbidden())
                .isEqualTo(1);
        assertThat(sent).isEmpty();
        replay.force().as("anna", "the customer asked", auditing).run(letters(letter("1", "a", true)), p -> {});
        assertThat(sent).containsExactly("1");
        assertThat(audit).anyMatch(line -> line.contains("forced"));
    }

    @Test
    void limitsAndStops() {
        LetterReplay replay = LetterReplay.of(LetterFilter.all()).perSecond(1000);
        replay.limit(1).as("a", "b", auditing).run(letters(letter("1", "a", false), letter("2", "a", false)), p -> {});
        assertThat(sent).containsExactly("1");
        replay.until(() -> true).as("a", "b", auditing).run(letters(letter("3", "a", false)), p -> {});
        assertThat(sent).containsExactly("1");
    }

    @Test
    @DisplayName("a letter that cannot be sent is counted, with the reason, and those behind it are sent")
    void whatTheBrokerRefusesIsCounted() {
        var report = LetterReplay.of(LetterFilter.all())
                .perSecond(1000)
                .as("a", "b", auditing)
                .run(letters(letter("1", "a", false), letter("broken", "a", false), letter("3", "a", false)), p -> {});
        assertThat(sent).containsExactly("1", "3");
        assertThat(report.sent()).isEqualTo(2);
        assertThat(report.failed()).isEqualTo(1);
        assertThat(report.failures())
                .containsExactly(new LetterReplay.Report.Failure("broken", "orders", "no broker: refused"));
        assertThat(audit).last().asString().contains("2 dead letters sent again");
    }

    @Test
    @DisplayName("a letter of a consumer that the audit does not know is not sent, and those behind it are")
    void whatCannotBeWrittenDownIsNotSent() {
        Audit strict = (consumer, action, actor, reason, detail) -> {
            if (consumer.equals("forged")) {
                throw new IdemException("no such consumer", null);
            }
            audit.add(consumer + " " + action);
        };
        var report = LetterReplay.of(LetterFilter.all())
                .perSecond(1000)
                .as("a", "b", strict)
                .run(letters(letter("1", "forged", false), letter("2", "a", false)), p -> {});
        assertThat(sent).containsExactly("2");
        assertThat(report.failures())
                .containsExactly(new LetterReplay.Report.Failure("1", "orders", "no such consumer"));
        assertThat(audit).containsExactly("a REPLAY", "a REPLAYED");
    }

    @Test
    @DisplayName("letters that cannot be read any further end the run, and what was sent is written down")
    void whatCannotBeReadEndsTheRun() {
        DeadLetters two = letters(letter("1", "a", false), letter("unreadable", "a", false));
        LetterReplay.Ready replay =
                LetterReplay.of(LetterFilter.all()).perSecond(1000).as("a", "b", auditing);
        assertThatThrownBy(() -> replay.run(two, p -> {})).isInstanceOf(IdemException.class);
        assertThat(audit).last().asString().contains("1 dead letters sent again");
    }

    @Test
    @DisplayName("a letter decides where it goes only among the origins that are allowed")
    void origins() {
        Letter[] all = {
            letter("1", "a", false), letter("2", "a", false, "payments"), letter("3", "a", false, "payments")
        };
        LetterReplay replay = LetterReplay.of(LetterFilter.all()).perSecond(1000);
        assertThat(replay.dryRun(letters(all)).perOrigin()).isEqualTo(Map.of("orders", 1L, "payments", 2L));
        var report = replay.to(Set.of("orders")).as("a", "b", auditing).run(letters(all), p -> {});
        assertThat(sent).containsExactly("1");
        assertThat(report.notAllowed()).isEqualTo(Map.of("payments", 2L));
    }

    @Test
    @DisplayName("a million forged origins and failures take no memory: 100 are listed, the others counted")
    void manyNames() {
        Letter[] all = IntStream.range(0, 300)
                .mapToObj(i -> letter("broken", "c" + i, false, "o" + i))
                .toArray(Letter[]::new);
        LetterReplay replay = LetterReplay.of(LetterFilter.all()).perSecond(100_000);
        var dry = replay.dryRun(letters(all));
        assertThat(dry.perOrigin()).hasSize(101).containsEntry(LetterReplay.Report.OTHERS, 200L);
        assertThat(dry.perConsumer()).hasSize(101);
        var report = replay.as("a", "b", auditing).run(letters(all), p -> {});
        assertThat(report.failed()).isEqualTo(300);
        assertThat(report.failures()).hasSize(100);
    }

    @Test
    void anAuditNeedsAName() {
        assertThatThrownBy(() -> LetterReplay.of(LetterFilter.all()).as(" ", "b", auditing))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
