package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PayloadFile;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxEdit;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem inbox edit}: another revision of a parked message. */
@Command(
        name = "edit",
        description =
                "Gives a parked message another payload or other headers, as a new revision of the same id: what it was "
                        + "is kept, and its duplicates are still recognised. Then retry it.",
        footer = {
            "",
            "Examples:",
            "  idem inbox edit 17 --payload fixed.json --reason 'wrong currency' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem inbox edit 17 --header region=eu --remove-header debug --reason 'new router' --url jdbc:h2:file:./shop --json"
        })
final class InboxEditCommand extends DatabaseCommand {
    @Parameters(index = "0", paramLabel = "ID", description = "Its number, as 'idem inbox list' shows it.")
    long id;

    @Option(
            names = "--payload",
            paramLabel = "FILE",
            description = "The file with the new payload, byte for byte; - is the standard input.")
    @Nullable
    String payload;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Sets a header, in place of all of that name.")
    Map<String, String> headers = new LinkedHashMap<>();

    @Option(names = "--remove-header", paramLabel = "NAME", description = "Takes all headers of that name away.")
    List<String> removed = new ArrayList<>();

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--dry-run", description = "Only say what would be done.")
    boolean dryRun;

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        InboxEdit edit = edit();
        try (HikariDataSource dataSource = connection.open()) {
            InboxAnswer answer = operator(JdbcInbox.of(tables.in(dataSource))).edit(id, edit);
            PrintWriter out = spec.commandLine().getOut();
            out.println(
                    json
                            ? Json.line(new Result(id, answer.result().name(), answer.detail()))
                            : id + ": " + answer.result() + ": " + Printable.line(answer.detail()));
            out.flush();
            boolean fine =
                    answer.result() == InboxAnswer.Result.CHANGED || answer.result() == InboxAnswer.Result.UNCHANGED;
            return fine ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private InboxEdit edit() {
        if (payload == null && headers.isEmpty() && removed.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "Say what to change: --payload, --header or --remove-header");
        }
        InboxEdit edit = InboxEdit.nothing();
        for (Map.Entry<String, String> header : headers.entrySet()) {
            edit = edit.header(header.getKey(), header.getValue());
        }
        for (String name : removed) {
            edit = edit.withoutHeader(name);
        }
        return payload == null ? edit : edit.payload(PayloadFile.read(payload));
    }

    private InboxOperator operator(JdbcInbox inbox) {
        InboxOperator operator = person.as(inbox::as);
        return dryRun ? operator.dryRun() : operator;
    }

    private record Result(long id, String result, String detail) {}
}
