package dev.idem.cli.inbox;

import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.InboxRevision;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Everything of a message for people. */
final class DetailText {
    private DetailText() {}

    static void print(PrintWriter out, InboxMessage.Detail detail, List<InboxRevision> revisions) {
        InboxMessage message = detail.message();
        field(out, "message", message.id() + "  " + message.consumer() + "/" + message.messageId());
        field(
                out,
                "state",
                message.state() + message.reason().map(r -> ", " + r).orElse(""));
        field(out, "stored", Times.of(message.storedAt()));
        message.dueAt().ifPresent(due -> field(out, "due", Times.of(due)));
        field(out, "attempts", message.started() + " started, " + message.failed() + " failed");
        message.type().ifPresent(type -> field(out, "type", type));
        message.orderingKey().ifPresent(key -> field(out, "ordering key", key));
        detail.source().ifPresent(source -> field(out, "source", source));
        detail.contentType().ifPresent(type -> field(out, "content type", type));
        detail.eventTime().ifPresent(time -> field(out, "event time", Times.of(time)));
        message.worker().ifPresent(worker -> field(out, "last worker", worker));
        message.error().filter(error -> !error.isEmpty()).ifPresent(error -> field(out, "error", error));
        detail.unreadable().ifPresent(why -> field(out, "headers", "cannot be read: " + why));
        detail.headers().forEach(header -> field(out, "header", header.name() + ", " + header.bytes() + " bytes"));
        field(out, "payload", message.payloadBytes() + " bytes");
        detail.attempts()
                .forEach(a -> field(
                        out,
                        "failed",
                        Times.of(a.failedAt()) + " after " + Times.of(a.took()) + " by " + a.worker() + ", "
                                + a.reason() + ": " + a.errorType() + (a.error().isEmpty() ? "" : ": " + a.error())));
        detail.steps()
                .forEach(step -> field(
                        out,
                        step.kind().name().toLowerCase(Locale.ROOT),
                        step.name() + ", " + step.state()
                                + step.effectKey().map(key -> ", key " + key).orElse("")));
        revisions.forEach(r -> field(
                out,
                "revision",
                r.number() + ", " + r.payloadBytes() + " bytes, until " + Times.of(r.editedAt()) + ", edited by "
                        + r.actor() + ": " + r.changes() + ", because: " + r.reason()));
        detail.audit()
                .forEach(a -> field(
                        out,
                        "audit",
                        Times.of(a.at()) + " " + a.action() + " by " + a.actor() + ", " + a.detail() + ", because: "
                                + a.reason()));
    }

    private static void field(PrintWriter out, String name, String value) {
        out.printf("%-13s %s%n", name, Printable.line(value));
    }
}
