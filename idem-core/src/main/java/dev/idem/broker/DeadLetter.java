package dev.idem.broker;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.queue.Outbox;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Why a message was set aside, as the dead letter tells it: in headers that begin with {@code idem-}, beside everything the
 * message had. The text of an exception is told as the consumer's redaction leaves it: see {@link
 * dev.idem.Policy#withRedaction}.
 *
 * @param reason {@code FAILED}, {@code EXHAUSTED}, {@code REJECTED}, {@code CONFLICT} or {@code UNDECIDABLE}
 * @param detail more about it: the text of the exception, or what was wrong with the message
 * @param error the class of the exception, if there was one
 * @param attempts how often the handler has failed
 * @param replayForbidden whether the consumer's policy forbids to send it again
 * @param origin where it came from, in the broker's words: topic, partition and offset, say
 */
public record DeadLetter(
        String consumer,
        String reason,
        Optional<String> detail,
        Optional<String> error,
        int attempts,
        Instant at,
        boolean replayForbidden,
        Map<String, String> origin) {
    public static final String PREFIX = "idem-";

    static final String ORIGIN = PREFIX + "origin-";

    /** More than ever happens, and sums with it do not overflow. */
    private static final int MOST = 1_000_000;

    private static final String REPLAYS = PREFIX + "replays";
    private static final String FORBIDDEN = "forbidden";

    public DeadLetter {
        origin = Map.copyOf(origin);
    }

    /** The same letter, with the broker's words for where it came from. */
    public DeadLetter from(Map<String, String> place) {
        return new DeadLetter(consumer, reason, detail, error, attempts, at, replayForbidden, place);
    }

    /** The headers of the dead letter: those of the message, and then ours in place of older ones. */
    public List<Header> headers(Message message) {
        List<Header> all = new ArrayList<>(withoutOurs(message.headers()));
        all.addAll(ours(message));
        return all;
    }

    /** Our part of the headers. */
    public List<Header> ours(Message message) {
        List<Header> all = new ArrayList<>(message.headers(REPLAYS));
        all.add(new Header(PREFIX + "consumer", consumer));
        all.add(new Header(PREFIX + "reason", reason));
        detail.ifPresent(text -> all.add(new Header(PREFIX + "detail", text)));
        error.ifPresent(name -> all.add(new Header(PREFIX + "error", name)));
        all.add(new Header(PREFIX + "attempts", Integer.toString(attempts)));
        all.add(new Header(PREFIX + "time", at.toString()));
        if (replayForbidden) {
            all.add(new Header(PREFIX + "replay", FORBIDDEN));
        }
        origin.forEach((name, value) -> all.add(new Header(ORIGIN + name, value)));
        return all;
    }

    /** Reads what {@link #headers} wrote; empty if this is not one of our dead letters. */
    public static Optional<DeadLetter> of(Message message) {
        Optional<String> consumer = text(message, "consumer");
        Optional<String> reason = text(message, "reason");
        if (consumer.isEmpty() || reason.isEmpty()) {
            return Optional.empty();
        }
        Map<String, String> origin = new LinkedHashMap<>();
        for (Header header : message.headers()) {
            if (header.name().startsWith(ORIGIN)) {
                origin.put(header.name().substring(ORIGIN.length()), header.text());
            }
        }
        return Optional.of(new DeadLetter(
                consumer.get(),
                reason.get(),
                text(message, "detail"),
                text(message, "error"),
                text(message, "attempts").map(DeadLetter::number).orElse(0),
                text(message, "time").map(DeadLetter::time).orElse(Instant.EPOCH),
                text(message, "replay").filter(FORBIDDEN::equals).isPresent(),
                origin));
    }

    /** The headers of the message as it was, and how often it was sent again. */
    public static List<Header> headersOfReplay(Message letter) {
        List<Header> all = new ArrayList<>(withoutOurs(letter.headers()));
        int replays = text(letter, "replays").map(DeadLetter::number).orElse(0) + 1;
        all.add(new Header(REPLAYS, Integer.toString(replays)));
        return all;
    }

    /** The headers without those that only Idem writes. */
    public static List<Header> withoutOurs(List<Header> headers) {
        return headers.stream().filter(header -> !isOurs(header.name())).toList();
    }

    /**
     * Whether only Idem may write headers of this name: all that begin with {@code idem-}, in any case of letters. Not so the
     * two of an {@link Outbox}: they tell people where a message comes from, and nothing is decided by them.
     */
    public static boolean isOurs(String name) {
        boolean ofOutbox = name.equals(Outbox.CAUSATION_ID) || name.equals(Outbox.CORRELATION_ID);
        return !ofOutbox && name.regionMatches(true, 0, PREFIX, 0, PREFIX.length());
    }

    private static Optional<String> text(Message message, String name) {
        return message.header(PREFIX + name);
    }

    private static int number(String text) {
        try {
            return Math.max(0, Math.min(MOST, Integer.parseInt(text)));
        } catch (NumberFormatException malformed) {
            return 0;
        }
    }

    private static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException malformed) {
            return Instant.EPOCH;
        }
    }
}
