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
                return next < all.length ? Optional.of(all[next++]) : Optional.empty();
            }

            @Override
            public void sendAgain(Letter letter) {
                if (letter.place().equals("broken")) {
                    throw new IdemException("no broker", null);
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
        DeadLetter about = new DeadLetter(
                consumer, "FAILED", Optional.empty(), Optional.of("a.b.Oops"), 1, Instant.EPOCH, forbidden, Map.of());
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
        assertThat(report).isEqualTo(new LetterReplay.Report(3, 2, 0, Map.of("a", 2L)));
        assertThat(audit)
                .containsExactly(
                        "a REPLAY anna repaired begins at 1", "a REPLAYED anna repaired 2 dead letters sent again");
    }

    @Test
    void aDryRunSendsNothing() {
        var report =
                LetterReplay.of(LetterFilter.all()).dryRun(letters(letter("1", "a", false), letter("2", "b", true)));
        assertThat(report).isEqualTo(new LetterReplay.Report(2, 1, 1, Map.of("a", 1L)));
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
    void whatTheBrokerRefusesEndsTheRun() {
        assertThatThrownBy(() -> LetterReplay.of(LetterFilter.all())
                        .as("a", "b", auditing)
                        .run(letters(letter("broken", "a", false), letter("2", "a", false)), p -> {}))
                .isInstanceOf(IdemException.class);
        assertThat(sent).isEmpty();
    }

    @Test
    void anAuditNeedsAName() {
        assertThatThrownBy(() -> LetterReplay.of(LetterFilter.all()).as(" ", "b", auditing))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
