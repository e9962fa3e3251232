package dev.idem.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.idem.BatchFixture;
import dev.idem.Consumer;
import dev.idem.InboxFixture;
import dev.idem.Logged;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.TerminalException;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import shop.Till;

/** What a person hears of deliveries that are not simply done. */
class IncidentReportsTest extends BatchFixture {
    private static final String CANARY = "CANARY-4711";

    private void accept(Consumer consumer, Message message) {
        inbox.acceptAll(consumer, List.of(message)); // which is all that the fake can do
    }

    private static List<String> warnings(Logged logged) {
        return logged.lines(Level.WARN).stream()
                .filter(line -> line.contains(": message "))
                .toList();
    }

    @Test
    @DisplayName("LV-17 the first failure of a message is told, alone or in a batch, and the second is not")
    void firstFailure() {
        Consumer consumer = each((message, tx) -> {
            throw new CompletionException(new IllegalStateException("no till for " + id(message)));
        });
        try (Logged logged = new Logged()) {
            accept(consumer, message("a"));
            accept(consumer, message("a"));
            inbox.acceptAll(consumer, List.of(message("a"), message("b")));
            assertThat(warnings(logged))
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("batch: message a failed, and is tried again:"
                                            + " java.lang.IllegalStateException: no till for a at "),
                            line -> assertThat(line).startsWith("batch: message b failed, and is tried again:"));
        }
    }

    @Test
    @DisplayName("LV-17 what is to be set aside, rejected or in conflict is told with its reason")
    void theEnd() {
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("bad")) {
                throw new TerminalException("never", new IllegalArgumentException(Till.class.getName()));
            }
            return "done";
        });
        try (Logged logged = new Logged()) {
            inbox.acceptAll(consumer, List.of(message("bad"), message("good")));
            accept(
                    consumer,
                    message("good").toBuilder()
                            .payload(InboxFixture.bytes(CANARY))
                            .build());
            accept(
                    consumer,
                    Message.builder()
                            .header("token", CANARY)
                            .payload(InboxFixture.bytes(CANARY))
                            .build());
            assertThat(warnings(logged))
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("batch: message bad is set aside (TERMINAL):"
                                            + " dev.idem.TerminalException: never")
                                    .contains("Caused by: java.lang.IllegalArgumentException: shop.Till", "\tat "),
                            line -> assertThat(line)
                                    .startsWith("batch: message good is in conflict: another payload was accepted"),
                            line -> assertThat(line)
                                    .startsWith("batch: message without an id is rejected (KEY_MISSING):"));
            assertThat(String.join("\n", logged.lines())).doesNotContain(CANARY);
        }
    }

    @Test
    @DisplayName("what was done, or comes again by itself, is no incident")
    void nothingElse() {
        try (Logged logged = new Logged()) {
            accept(each(writing()), message("b"));
            accept(each(writing()), message("b"));
            store.busy.add("busy");
            accept(each(writing()), message("busy"));
            assertThat(warnings(logged)).isEmpty();
            assertThat(logged.lines(Level.DEBUG)).anyMatch(line -> line.contains("is Duplicate (DONE)"));
        }
    }

    @Test
    @DisplayName("the consumer's redaction sees every text of an exception before the log does")
    void redaction() {
        Consumer consumer =
                each(Policy.defaults().withRedaction(text -> text.replaceAll("\\d+", "#")), (message, tx) -> {
                    throw new TerminalException("card 4711", new Exception("4711 again"));
                });
        try (Logged logged = new Logged()) {
            accept(consumer, message("a"));
            assertThat(warnings(logged))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("TerminalException: card #", "Caused by: java.lang.Exception: # again")
                            .doesNotContain("4711"));
        }
    }
}
