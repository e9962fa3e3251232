package dev.idem.broker;

import dev.idem.Message;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Replays the dead letters of a consumer: {@code dead-letters:from=orders.dead-letters}, with {@code reason} and {@code
 * error} to narrow it. The letters stay where they are. Thread-safe.
 */
public final class LetterSource implements ReplaySource {
    private final Function<String, DeadLetters> open;

    private LetterSource(Function<String, DeadLetters> open) {
        this.open = open;
    }

    /**
     * A source that opens dead letters by the name of their destination.
     *
     * <pre>{@code LetterSource.of(topic -> KafkaDeadLetters.open(config, topic))}</pre>
     */
    public static LetterSource of(Function<String, DeadLetters> open) {
        return new LetterSource(Objects.requireNonNull(open, "open"));
    }

    @Override
    public String scheme() {
        return "dead-letters";
    }

    @Override
    public Reading open(ReplaySession session, ReplaySpec spec) {
        spec.only(Set.of("from", "reason", "error"));
        LetterFilter filter = LetterFilter.all().consumer(session.consumer());
        filter = spec.option("reason").map(filter::reason).orElse(filter);
        filter = spec.option("error").map(filter::error).orElse(filter);
        String from = spec.required("from");
        return new Letters(() -> open.apply(from), filter, session.cursor().orElse(""));
    }

    /** One walk. A letter that the cursor names and that is gone means a walk from the beginning: the inbox knows the rest. */
    private static final class Letters implements Reading {
        private final LetterFilter filter;
        private DeadLetters letters;
        private String place;
        private @Nullable Letter ahead;

        Letters(java.util.function.Supplier<DeadLetters> open, LetterFilter filter, String cursor) {
            this.filter = filter;
            letters = open.get();
            place = cursor;
            if (!cursor.isEmpty() && !skipped(cursor)) {
                letters.close();
                letters = open.get();
            }
            ahead = found();
        }

        private boolean skipped(String cursor) {
            Optional<Letter> next = letters.next();
            while (next.isPresent() && !next.get().place().equals(cursor)) {
                next = letters.next();
            }
            return next.isPresent();
        }

        private @Nullable Letter found() {
            Optional<Letter> next = letters.next();
            while (next.isPresent() && !filter.test(next.get())) {
                next = letters.next();
            }
            return next.orElse(null);
        }

        @Override
        public Batch next(int most) {
            List<Message> messages = new ArrayList<>();
            for (Letter letter = ahead; letter != null && messages.size() < most; letter = ahead) {
                messages.add(asItWas(letter.message()));
                place = letter.place();
                ahead = found();
            }
            return new Batch(messages, place, ahead == null);
        }

        /** Its position is that of the letter, so it has none. */
        private static Message asItWas(Message letter) {
            return Message.builder()
                    .id(letter.id().orElse(null))
                    .source(letter.source().orElse(null))
                    .type(letter.type().orElse(null))
                    .version(letter.version().orElse(null))
                    .orderingKey(letter.orderingKey().orElse(null))
                    .contentType(letter.contentType().orElse(null))
                    .eventTime(letter.eventTime().orElse(null))
                    .headers(letter.headers().stream()
                            .filter(header -> !DeadLetter.isOurs(header.name()) || DeliveryHeaders.isOne(header.name()))
                            .toList())
                    .payload(letter.payload())
                    .build();
        }

        @Override
        public OptionalLong total() {
            return OptionalLong.empty(); // those of other consumers are counted with them
        }

        @Override
        public void close() {
            letters.close();
        }
    }
}
