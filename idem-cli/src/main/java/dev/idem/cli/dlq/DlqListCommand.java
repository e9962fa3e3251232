package dev.idem.cli.dlq;

import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterFilter;
import dev.idem.cli.CommonOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code idem dlq list}: dead letters, the oldest first. */
@Command(
        name = "list",
        description =
                "Lists dead letters, the oldest first, with their places for 'show' and 'replay'. Takes nothing away.",
        footer = {
            "",
            "Examples:",
            "  idem dlq list --with-reason exhausted --kafka broker:9092 --topic orders.dead-letters",
            "  idem dlq list --json --limit 1000 --rabbitmq amqp://mq --queue orders.dead-letters"
        })
final class DlqListCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    BrokerOptions broker = new BrokerOptions();

    @Mixin
    LetterOptions letters = new LetterOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Option(names = "--limit", paramLabel = "N", description = "How many at most; default ${DEFAULT-VALUE}.")
    int limit = 50;

    @Option(names = "--json", description = "Print them as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if (limit < 1) {
            throw new ParameterException(spec.commandLine(), "--limit must be at least 1");
        }
        LetterFilter filter = letters.filter();
        List<Letter> found = new ArrayList<>();
        boolean more = false;
        long seen = 0;
        try (DeadLetters all = broker.open()) {
            for (Optional<Letter> next = all.next(); next.isPresent() && !more; next = all.next()) {
                seen++;
                if (filter.test(next.get())) {
                    more = found.size() == limit;
                    if (!more) {
                        found.add(next.get());
                    }
                }
            }
        }
        print(spec.commandLine().getOut(), found, more, seen);
        return ExitCodes.OK;
    }

    private void print(PrintWriter out, List<Letter> found, boolean more, long seen) {
        if (json) {
            out.println(Json.line(new Result(found.stream().map(LetterLine::of).toList(), more)));
        } else if (found.isEmpty()) {
            out.println(
                    seen == 0
                            ? "No dead letters in " + Printable.line(broker.destination) + "."
                            : "No dead letter is like that; " + seen + " are there.");
        } else {
            found.forEach(letter -> out.println(LetterLine.text(letter)));
            if (more) {
                out.println("There are more: raise --limit, or narrow the filter");
            }
        }
        out.flush();
    }

    private record Result(List<LetterLine> letters, boolean more) {}
}
