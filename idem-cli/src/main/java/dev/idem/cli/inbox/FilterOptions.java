package dev.idem.cli.inbox;

import dev.idem.cli.Age;
import dev.idem.cli.Printable;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.queue.QueueState;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which messages are meant. */
final class FilterOptions {
    @Option(names = "--consumer", paramLabel = "NAME", description = "Only those of this consumer.")
    @Nullable
    String consumer;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            split = ",",
            description = "Only those in this state; may be given more than once: received, in-progress, "
                    + "failed-retryable, held, parked, failed-terminal.")
    List<String> states = new ArrayList<>();

    @Option(names = "--type", paramLabel = "TYPE", description = "Only those of this message type.")
    @Nullable
    String type;

    @Option(names = "--ordering-key", paramLabel = "KEY", description = "Only those with this ordering key.")
    @Nullable
    String orderingKey;

    @Option(
            names = "--with-reason",
            paramLabel = "WORD",
            description =
                    "Only those that failed or were parked for this reason: EXHAUSTED, TERMINAL, CRASHED, STUCK, BROKEN, BEHIND, "
                            + "GAP, EFFECT_UNKNOWN, STEPS_CHANGED, ERASED, …")
    @Nullable
    String failure;

    @Option(
            names = "--older-than",
            paramLabel = "AGE",
            description = "Only those that were stored longer ago than this: 90s, 15m, 2h, 7d.")
    @Nullable
    String age;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    boolean isEmpty() {
        return consumer == null
                && states.isEmpty()
                && type == null
                && orderingKey == null
                && failure == null
                && age == null;
    }

    /** Says so if there is no such consumer: an empty answer would look like good news. */
    boolean isUnknown(JdbcSchema schema) {
        return consumer != null && UnknownConsumer.refused(consumer, schema, command.commandLine());
    }

    InboxFilter filter() {
        try {
            return InboxFilter.all()
                    .withConsumer(consumer)
                    .withStates(states())
                    .withType(type)
                    .withOrderingKey(orderingKey)
                    .withReason(failure)
                    .withOlderThan(age == null ? null : Age.parse(age));
        } catch (IllegalArgumentException | DateTimeParseException wrong) {
            throw new ParameterException(command.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    private Set<QueueState> states() {
        Set<QueueState> chosen = EnumSet.noneOf(QueueState.class);
        for (String name : states) {
            try {
                chosen.add(QueueState.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_')));
            } catch (IllegalArgumentException unknown) {
                String all = Stream.of(QueueState.values())
                        .map(state -> state.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                        .collect(Collectors.joining(", "));
                throw new IllegalArgumentException(
                        "--state: there is no state " + Printable.line(name) + "; the states are " + all, unknown);
            }
        }
        return chosen;
    }
}
