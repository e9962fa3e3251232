package dev.idem.cli.inbox;

import dev.idem.jdbc.admin.InboxMessage;
import org.jspecify.annotations.Nullable;

/** A message for machines; texts as they came, which JSON escapes. */
record MessageLine(
        long id,
        String consumer,
        String messageId,
        String state,
        String storedAt,
        @Nullable String dueAt,
        int started,
        int failed,
        @Nullable String type,
        @Nullable String orderingKey,
        @Nullable String worker,
        @Nullable String reason,
        @Nullable String error,
        long payloadBytes) {

    static MessageLine of(InboxMessage message) {
        return new MessageLine(
                message.id(),
                message.consumer(),
                message.messageId(),
                message.state().name(),
                message.storedAt().toString(),
                message.dueAt().map(Object::toString).orElse(null),
                message.started(),
                message.failed(),
                message.type().orElse(null),
                message.orderingKey().orElse(null),
                message.worker().orElse(null),
                message.reason().orElse(null),
                message.error().orElse(null),
                message.payloadBytes());
    }
}
