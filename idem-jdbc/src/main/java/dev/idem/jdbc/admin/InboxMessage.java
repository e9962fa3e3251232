package dev.idem.jdbc.admin;

import dev.idem.queue.QueueState;
import dev.idem.spi.StepRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A stored message as an operator sees it. Texts are as they came, so whoever shows them must escape them. Immutable.
 *
 * @param id its number in the queue, which grows in the order of receipt
 * @param messageId what makes it the same message for its consumer, readable
 * @param dueAt when a worker may take it, or its lease runs out; when it was stored, if a worker may take it at any time
 * @param started how often its handler is known to have been started since it was stored, or last retried by a person
 * @param failed how often the handler is known to have failed since then
 * @param worker who had it last, where it was leased
 * @param reason a word that says why it failed or was parked
 * @param error what went wrong the last time; bytes that are no text are replaced
 */
public record InboxMessage(
        long id,
        String consumer,
        String messageId,
        QueueState state,
        Instant storedAt,
        Optional<Instant> dueAt,
        int started,
        int failed,
        Optional<String> type,
        Optional<String> orderingKey,
        Optional<String> worker,
        Optional<String> reason,
        Optional<String> error,
        long payloadBytes) {

    /**
     * Everything of one message but its payload and the values of its headers.
     *
     * @param unreadable why the headers cannot be shown, if they cannot
     * @param attempts the last hundred runs that failed, in the order they happened
     * @param audit what people did to it, in the order it happened
     * @param steps what is stored of its steps and effects, in the order it was stored
     */
    public record Detail(
            InboxMessage message,
            Optional<String> source,
            Optional<String> contentType,
            Optional<Instant> eventTime,
            List<Header> headers,
            Optional<String> unreadable,
            List<Attempt> attempts,
            List<Audit> audit,
            List<Step> steps) {}

    /**
     * A step or an effect, without its result.
     *
     * @param effectKey what the provider was given, of an effect
     */
    public record Step(String name, StepRecord.Kind kind, StepRecord.State state, Optional<String> effectKey) {}

    /** A header without its value, which may be a secret. */
    public record Header(String name, int bytes) {}

    /** A run of the handler that failed. */
    public record Attempt(
            Instant failedAt, Duration took, String worker, String reason, String errorType, String error) {}

    /**
     * What a person did.
     *
     * @param detail what it changed
     */
    public record Audit(Instant at, String action, String actor, String reason, String detail) {}

    /**
     * Some of many.
     *
     * @param next where the next page begins; empty if this was the last
     */
    public record Page(List<InboxMessage> messages, Optional<Long> next) {}
}
