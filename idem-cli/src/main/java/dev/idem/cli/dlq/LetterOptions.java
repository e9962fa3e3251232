package dev.idem.cli.dlq;

import dev.idem.broker.LetterFilter;
import dev.idem.cli.Age;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which letters are meant. */
final class LetterOptions {
    @Option(names = "--consumer", paramLabel = "NAME", description = "Only those that this consumer set aside.")
    @Nullable
    String consumer;

    @Option(
            names = "--with-reason",
            paramLabel = "WORD",
            description = "Only those set aside for this reason: FAILED, EXHAUSTED, REJECTED, CONFLICT, UNDECIDABLE.")
    @Nullable
    String reason;

    @Option(names = "--error", paramLabel = "CLASS", description = "Only those that failed with this exception.")
    @Nullable
    String error;

    @Option(names = "--id", paramLabel = "ID", description = "Only the message with this id.")
    @Nullable
    String id;

    @Option(names = "--type", paramLabel = "TYPE", description = "Only those of this message type.")
    @Nullable
    String type;

    @Option(
            names = "--older-than",
            paramLabel = "AGE",
            description = "Only those set aside before: 90s, 15m, 2h, 7d ago.")
    @Nullable
    String olderThan;

    @Option(
            names = "--newer-than",
            paramLabel = "AGE",
            description = "Only those set aside since: 90s, 15m, 2h, 7d ago.")
    @Nullable
    String newerThan;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    boolean isEmpty() {
        return consumer == null
                && reason == null
                && error == null
                && id == null
                && type == null
                && olderThan == null
                && newerThan == null;
    }

    LetterFilter filter() {
        LetterFilter filter = LetterFilter.all();
        filter = consumer == null ? filter : filter.consumer(consumer);
        filter = reason == null ? filter : filter.reason(reason);
        filter = error == null ? filter : filter.error(error);
        filter = id == null ? filter : filter.id(id);
        filter = type == null ? filter : filter.type(type);
        return filter.between(ago("--newer-than", newerThan), ago("--older-than", olderThan));
    }

    private @Nullable Instant ago(String option, @Nullable String age) {
        try {
            return age == null ? null : Instant.now().minus(Age.parse(age));
        } catch (DateTimeException | ArithmeticException wrong) {
            throw new ParameterException(command.commandLine(), option + " must be like 90s, 15m, 2h or 7d", wrong);
        }
    }
}
