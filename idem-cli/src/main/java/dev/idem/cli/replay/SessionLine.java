package dev.idem.cli.replay;

import dev.idem.cli.ExitCodes;
import dev.idem.cli.Nearest;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.replay.ReplaySession;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A session for machines; texts as they came, which JSON escapes. */
record SessionLine(
        String name,
        String consumer,
        String source,
        String actor,
        String reason,
        long perSecond,
        boolean dryRun,
        String state,
        @Nullable String policy,
        @Nullable Long total,
        ReplaySession.Counts counts,
        List<EffectLine> effects,
        @Nullable String worker,
        String createdAt,
        String updatedAt,
        @Nullable String error) {

    static SessionLine of(ReplaySession session) {
        return new SessionLine(
                session.name(),
                session.consumer(),
                session.source(),
                session.actor(),
                session.reason(),
                session.perSecond(),
                session.dryRun(),
                session.state().name(),
                session.policy().map(Enum::name).orElse(null),
                session.total().isPresent() ? session.total().getAsLong() : null,
                session.counts(),
                EffectLine.of(session),
                session.worker().orElse(null),
                session.createdAt().toString(),
                session.updatedAt().toString(),
                session.error().orElse(null));
    }

    /** Says that there is no such session, and which there are. */
    static int unknown(PrintWriter err, String name, List<ReplaySession> sessions) {
        err.println("There is no session " + Printable.line(name) + "."
                + Nearest.to(name, sessions.stream().map(ReplaySession::name).toList()) + " See 'idem replay status'.");
        err.flush();
        return ExitCodes.CHECK_FAILED;
    }

    /** One line for each. */
    static void table(PrintWriter out, List<ReplaySession> sessions) {
        String form = "%-24s %-20s %-10s %10s %10s %10s %10s %10s%n";
        out.printf(form, "session", "consumer", "state", "read", "of", "processed", "duplicate", "failed");
        sessions.forEach(s -> out.printf(
                form,
                Printable.line(s.name()),
                Printable.line(s.consumer()),
                s.state() + (s.dryRun() ? "*" : ""),
                s.counts().read(),
                s.total().isPresent() ? Long.toString(s.total().getAsLong()) : "-",
                s.counts().processed(),
                s.counts().duplicates(),
                s.counts().failed() + s.counts().rejected()));
        if (sessions.stream().anyMatch(ReplaySession::dryRun)) {
            out.println("* a dry run");
        }
    }

    /** Everything of one, for people. */
    static void text(PrintWriter out, ReplaySession session) {
        field(out, "session", session.name() + (session.dryRun() ? ", a dry run" : ""));
        field(out, "state", session.state().name());
        field(out, "consumer", session.consumer());
        field(out, "source", session.source());
        field(out, "asked by", session.actor() + ", because: " + session.reason());
        field(out, "rate", session.perSecond() + " a second");
        session.policy().ifPresent(policy -> field(out, "policy", policy + ": " + meaning(policy)));
        ReplaySession.Counts counts = session.counts();
        field(
                out,
                "read",
                counts.read()
                        + (session.total().isPresent()
                                ? " of " + session.total().getAsLong()
                                : ""));
        field(out, session.dryRun() ? "would run" : "processed", Long.toString(counts.processed()));
        field(out, session.dryRun() ? "done before" : "duplicates", Long.toString(counts.duplicates()));
        field(out, session.dryRun() ? "would be suppressed" : "suppressed", Long.toString(counts.suppressed()));
        field(out, "before horizon", Long.toString(counts.undecidable()));
        field(out, "rejected", Long.toString(counts.rejected()));
        field(out, "failed", Long.toString(counts.failed()));
        EffectLine.texts(session).forEach(text -> field(out, "effect", text));
        session.worker().ifPresent(worker -> field(out, "executor", worker));
        field(out, "created", Times.of(session.createdAt()));
        field(out, "last change", Times.of(session.updatedAt()));
        session.error().ifPresent(error -> field(out, "error", error));
    }

    private static String meaning(dev.idem.Policy.Replay policy) {
        return switch (policy) {
            case UNDONE_ONLY -> "what is done is a duplicate";
            case ALLOWED -> "everything runs once for the session";
            case SUPPRESS_EFFECTS -> "everything runs once, without effects outside the database and publications";
            case FORBIDDEN -> "nothing runs";
        };
    }

    private static void field(PrintWriter out, String name, String value) {
        out.printf("%-19s %s%n", name, Printable.line(value));
    }
}
