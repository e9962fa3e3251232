package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Header;
import dev.idem.Message;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeadLetterTest {
    private static final DeadLetter LETTER = new DeadLetter(
            "billing",
            "EXHAUSTED",
            Optional.empty(),
            Optional.of("java.io.IOException"),
            7,
            Instant.parse("2026-01-02T03:04:05Z"),
            true,
            Map.of("topic", "orders", "partition", "3"));
    private static final Message MESSAGE = Message.builder()
            .id("m-1")
            .header("a", "1")
            .header("a", new byte[] {(byte) 0xff})
            .header("Idem-of-a-producer", "forged")
            .build();

    @Test
    void itsHeadersAreThoseOfTheMessageAndOursAndNoneThatAProducerForged() {
        List<Header> headers = LETTER.headers(MESSAGE);
        assertThat(headers).startsWith(MESSAGE.headers("a").toArray(Header[]::new));
        assertThat(headers).extracting(Header::name).doesNotContain("Idem-of-a-producer");
        assertThat(DeadLetter.of(MESSAGE.toBuilder().headers(List.of()).build()))
                .isEmpty();
        assertThat(DeadLetter.of(Message.builder().headers(headers).build())).contains(LETTER);
    }

    @Test
    void theReplayHasWhatTheMessageHadAndACount() {
        Message dead = Message.builder().headers(LETTER.headers(MESSAGE)).build();
        Message again =
                Message.builder().headers(DeadLetter.headersOfReplay(dead)).build();
        assertThat(DeadLetter.withoutOurs(again.headers())).isEqualTo(MESSAGE.headers("a"));
        assertThat(again.headers("idem-replays")).containsExactly(new Header("idem-replays", "1"));
        Message deadAgain = Message.builder().headers(LETTER.headers(again)).build();
        Message third =
                Message.builder().headers(DeadLetter.headersOfReplay(deadAgain)).build();
        assertThat(third.headers("idem-replays")).containsExactly(new Header("idem-replays", "2"));
        assertThat(third.headers("idem-consumer")).isEmpty();
    }

    @Test
    void whatOthersWroteIntoOurHeadersDoesNotHurt() {
        Message odd = Message.builder()
                .header("idem-consumer", "c")
                .header("idem-reason", "FAILED")
                .header("idem-attempts", "many")
                .header("idem-time", "yesterday")
                .build();
        assertThat(DeadLetter.of(odd)).get().satisfies(letter -> {
            assertThat(letter.attempts()).isZero();
            assertThat(letter.at()).isEqualTo(Instant.EPOCH);
        });
    }
}
