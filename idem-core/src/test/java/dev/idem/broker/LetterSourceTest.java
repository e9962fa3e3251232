package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LetterSourceTest {
    private final List<Letter> letters = new ArrayList<>();
    private final LetterSource source = LetterSource.of(name -> new Fake());

    private final class Fake implements DeadLetters {
        private final Iterator<Letter> rest = List.copyOf(letters).iterator();

        @Override
        public Optional<Letter> next() {
            return rest.hasNext() ? Optional.of(rest.next()) : Optional.empty();
        }

        @Override
        public void sendAgain(Letter letter) {
            throw new AssertionError("letters stay where they are");
        }

        @Override
        public Optional<Long> size() {
            return Optional.of((long) letters.size());
        }

        @Override
        public void close() {}
    }

    private void letter(String consumer, String id, String reason) {
        DeadLetter about = new DeadLetter(
                consumer,
                reason,
                Optional.empty(),
                Optional.empty(),
                1,
                Instant.EPOCH,
                false,
                Map.of("topic", "orders"));
        Message message = Message.builder()
                .id(id)
                .type("paid")
                .orderingKey("k")
                .header("trace", "t")
                .eventTime(Instant.EPOCH)
                .payload(new byte[] {1, 2})
                .build();
        letters.add(new Letter(
                "0-" + letters.size(),
                message.toBuilder()
                        .headers(about.ours(message))
                        .position(new Position("letters", 0, letters.size()))
                        .build(),
                about));
    }

    private List<Message> read(String spec, String cursor, int most) {
        List<Message> all = new ArrayList<>();
        try (ReplaySource.Reading reading = source.open(session(cursor), ReplaySpec.parse(spec))) {
            for (boolean end = false; !end; ) {
                ReplaySource.Batch batch = reading.next(most);
                all.addAll(batch.messages());
                end = batch.end();
            }
        }
        return all;
    }

    private static ReplaySession session(String cursor) {
        return new ReplaySession(
                "s",
                "billing",
                "dead-letters",
                "anna",
                "why",
                1,
                false,
                ReplaySession.State.RUNNING,
                Optional.empty(),
                Optional.ofNullable(cursor),
                OptionalLong.empty(),
                ReplaySession.Counts.none(),
                Optional.empty(),
                Optional.empty(),
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                Optional.empty(),
                List.of());
    }

    @Test
    @DisplayName("RP-02 dead letters of the consumer are read as the messages were, and again from the cursor on")
    void reads() {
        letter("billing", "m0", "FAILED");
        letter("mail", "m1", "FAILED");
        letter("billing", "m2", "CONFLICT");
        letter("billing", "m3", "FAILED");
        assertThat(read("dead-letters:from=x", null, 2))
                .extracting(m -> m.id().orElseThrow())
                .containsExactly("m0", "m2", "m3");
        assertThat(read("dead-letters:from=x;reason=failed", null, 5))
                .extracting(m -> m.id().orElseThrow())
                .containsExactly("m0", "m3");
        Message first = read("dead-letters:from=x", null, 2).get(0);
        assertThat(first.headers()).containsExactly(new Header("trace", "t"));
        assertThat(first.position()).isEmpty();
        assertThat(first.type()).contains("paid");
        assertThat(first.orderingKey()).contains("k");
        assertThat(first.eventTime()).contains(Instant.EPOCH);
        assertThat(first.payload()).containsExactly(1, 2);
        assertThat(read("dead-letters:from=x", "0-2", 1)).hasSize(1);
        assertThat(read("dead-letters:from=x", "0-99", 9))
                .as("the letter of the cursor is gone, so it begins anew")
                .hasSize(3);
        assertThatThrownBy(() -> read("dead-letters", null, 1)).hasMessageContaining("from");
    }
}
