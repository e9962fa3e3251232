package dev.idem.cli.inbox;

import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.InboxRevision;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Everything of a message for machines. */
record DetailLine(
        MessageLine message,
        @Nullable String source,
        @Nullable String contentType,
        @Nullable String eventTime,
        List<InboxMessage.Header> headers,
        @Nullable String unreadable,
        List<Attempt> attempts,
        List<Audit> audit,
        List<Step> steps,
        List<Revision> revisions,
        @Nullable String payload,
        @Nullable String payloadBase64) {

    static DetailLine of(InboxMessage.Detail detail, List<InboxRevision> revisions, Optional<byte[]> payload) {
        Optional<String> text = payload.flatMap(Printable::utf8);
        return new DetailLine(
                MessageLine.of(detail.message()),
                detail.source().orElse(null),
                detail.contentType().orElse(null),
                detail.eventTime().map(Object::toString).orElse(null),
                detail.headers(),
                detail.unreadable().orElse(null),
                detail.attempts().stream().map(Attempt::of).toList(),
                detail.audit().stream().map(Audit::of).toList(),
                detail.steps().stream().map(Step::of).toList(),
                revisions.stream().map(Revision::of).toList(),
                text.orElse(null),
                text.isPresent() ? null : payload.map(Printable::base64).orElse(null));
    }

    record Attempt(String failedAt, double tookSeconds, String worker, String reason, String errorType, String error) {
        private static Attempt of(InboxMessage.Attempt a) {
            return new Attempt(
                    a.failedAt().toString(),
                    a.took().toNanos() / 1e9,
                    a.worker(),
                    a.reason(),
                    a.errorType(),
                    a.error());
        }
    }

    record Step(
            String name,
            String kind,
            String state,
            @Nullable String effectKey) {
        private static Step of(InboxMessage.Step step) {
            return new Step(
                    step.name(),
                    step.kind().name(),
                    step.state().name(),
                    step.effectKey().orElse(null));
        }
    }

    record Revision(int number, String editedAt, String actor, String reason, String changes, long payloadBytes) {
        private static Revision of(InboxRevision r) {
            return new Revision(
                    r.number(), r.editedAt().toString(), r.actor(), r.reason(), r.changes(), r.payloadBytes());
        }
    }

    record Audit(String at, String action, String actor, String reason, String detail) {
        private static Audit of(InboxMessage.Audit a) {
            return new Audit(a.at().toString(), a.action(), a.actor(), a.reason(), a.detail());
        }
    }
}
