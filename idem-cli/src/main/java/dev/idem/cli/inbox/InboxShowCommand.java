package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.jdbc.InboxMessage;
import dev.idem.jdbc.InboxRevision;
import dev.idem.jdbc.JdbcInbox;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem inbox show}: everything of one message. */
@Command(
        name = "show",
        description = "Shows one stored message: its state, the history of its attempts, and what people did to it. Of "
                + "headers only names and sizes are shown, and the payload only if it is asked for.",
        footer = {
            "",
            "Examples:",
            "  idem inbox show 17 --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox show --consumer mail --message-id m-1 --payload --json --url jdbc:h2:file:./shop"
        })
final class InboxShowCommand extends DatabaseCommand {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "ID",
            description = "Its number, as 'idem inbox list' shows it.")
    @Nullable
    Long id;

    @Option(names = "--consumer", paramLabel = "NAME", description = "Its consumer, with --message-id.")
    @Nullable
    String consumer;

    @Option(
            names = "--message-id",
            paramLabel = "TEXT",
            description = "Its message id instead of its number. Reads the whole queue of the consumer.")
    @Nullable
    String messageId;

    @Option(names = "--payload", description = "Also the payload: as text if it is UTF-8, else in base64.")
    boolean payload;

    @Option(
            names = "--revision",
            paramLabel = "N",
            description = "With --payload: that of an earlier revision, from before it was edited.")
    @Nullable
    Integer revision;

    @Option(names = "--json", description = "Print it as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if ((id == null) == (messageId == null) || (messageId != null && consumer == null)) {
            throw new ParameterException(spec.commandLine(), "Say which: an ID, or --consumer and --message-id");
        }
        try (HikariDataSource dataSource = connection.open()) {
            JdbcInbox inbox = JdbcInbox.of(tables.in(dataSource));
            Optional<Long> number = Optional.ofNullable(id);
            if (number.isEmpty() && consumer != null && messageId != null) {
                number = inbox.find(consumer, messageId);
            }
            Optional<InboxMessage.Detail> detail = number.flatMap(inbox::show);
            if (detail.isEmpty()) {
                spec.commandLine().getErr().println("It is not in the queue: it is done, or was never there.");
                spec.commandLine().getErr().flush();
                return ExitCodes.CHECK_FAILED;
            }
            List<InboxRevision> revisions = number.map(inbox::revisions).orElse(List.of());
            Optional<byte[]> bytes = payload ? number.flatMap(n -> bytes(inbox, n)) : Optional.empty();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(DetailLine.of(detail.get(), revisions, bytes)));
            } else {
                DetailText.print(out, detail.get(), revisions, bytes);
            }
            out.flush();
            return ExitCodes.OK;
        }
    }

    private Optional<byte[]> bytes(JdbcInbox inbox, long number) {
        return revision == null ? inbox.payload(number) : inbox.payload(number, revision);
    }
}
