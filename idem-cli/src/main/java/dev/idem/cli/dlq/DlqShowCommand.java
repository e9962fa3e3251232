package dev.idem.cli.dlq;

import dev.idem.Header;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterFilter;
import dev.idem.cli.CommonOptions;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Nearest;
import dev.idem.cli.PayloadFile;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code idem dlq show}: one letter, whole. */
@Command(
        name = "show",
        description =
                "Shows one dead letter: why it was set aside, where it came from, its headers. Takes nothing away.",
        footer = {
            "",
            "Examples:",
            "  idem dlq show 0-17 --kafka broker:9092 --topic orders.dead-letters",
            "  idem dlq show 0-17 --payload order.json --kafka broker:9092 --topic orders.dead-letters"
        })
final class DlqShowCommand implements Callable<Integer> {
    private static final int LOOKED_AT = 1_000;

    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    BrokerOptions broker = new BrokerOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Parameters(paramLabel = "PLACE", description = "The letter's place, as 'idem dlq list' shows it.")
    String place = "";

    @Option(
            names = "--payload",
            paramLabel = "FILE",
            description =
                    "Write the payload to this new file, byte for byte, readable by its owner only. A file that is there is"
                            + " not overwritten. - is the standard output, which then has nothing else; with --json the payload is"
                            + " in the object, as text if it is UTF-8, else in base64.")
    @Nullable
    String payload;

    @Option(names = "--json", description = "Print it as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        Optional<Letter> found;
        List<String> there = new ArrayList<>();
        try (DeadLetters all = broker.open()) {
            LetterFilter filter = LetterFilter.all().place(place);
            for (found = all.next(); found.isPresent() && !filter.test(found.get()); found = all.next()) {
                if (there.size() < LOOKED_AT) {
                    there.add(found.get().place());
                }
            }
        }
        if (found.isEmpty()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("There is no dead letter at " + Printable.line(place) + "." + Nearest.to(place, there)
                    + " See 'idem dlq list'.");
            err.flush();
            return ExitCodes.CHECK_FAILED;
        }
        boolean standard = PayloadFile.isStandard(payload);
        byte[] bytes = found.get().message().payload();
        if (payload != null && !standard) {
            PayloadFile.write(payload, bytes);
        }
        if (standard && !json) {
            PayloadFile.print(spec.commandLine().getOut(), bytes);
        } else {
            print(spec.commandLine().getOut(), found.get(), standard);
        }
        return ExitCodes.OK;
    }

    private void print(PrintWriter out, Letter letter, boolean withPayload) {
        List<HeaderLine> headers = DeadLetter.withoutOurs(letter.message().headers()).stream()
                .map(HeaderLine::of)
                .toList();
        LetterLine line = LetterLine.of(letter);
        if (json) {
            Optional<byte[]> bytes = withPayload ? Optional.of(letter.message().payload()) : Optional.empty();
            Optional<String> text = bytes.flatMap(Printable::utf8);
            out.println(Json.line(new Result(
                    line,
                    headers,
                    text.orElse(null),
                    text.isPresent() ? null : bytes.map(Printable::base64).orElse(null))));
        } else {
            DeadLetter about = letter.about();
            out.println(LetterLine.text(letter));
            field(out, "detail", line.detail());
            field(out, "error", line.error());
            field(out, "type", line.type());
            field(out, "key", line.key());
            field(out, "attempts", Integer.toString(about.attempts()));
            about.origin().forEach((name, value) -> field(out, "from " + name, readable(name, value)));
            field(out, "replay", about.replayForbidden() ? "forbidden by the consumer's policy" : "allowed");
            field(out, "payload", line.bytes() + " bytes");
            headers.forEach(header -> field(out, "header", header.name + " (" + header.bytes + " bytes)"));
        }
        out.flush();
    }

    /** A time that a broker tells in milliseconds. */
    private static String readable(String name, String value) {
        return name.equals("timestamp") && value.matches("\\d{1,15}")
                ? Times.of(Instant.ofEpochMilli(Long.parseLong(value)))
                : value;
    }

    private static void field(PrintWriter out, String name, @Nullable String value) {
        if (value != null) {
            out.printf("  %-15s %s%n", Printable.line(name), Printable.line(value));
        }
    }

    private record HeaderLine(String name, int bytes) {
        private static HeaderLine of(Header header) {
            return new HeaderLine(header.name(), header.value().length);
        }
    }

    private record Result(
            LetterLine letter,
            List<HeaderLine> headers,
            @Nullable String payload,
            @Nullable String payloadBase64) {}
}
