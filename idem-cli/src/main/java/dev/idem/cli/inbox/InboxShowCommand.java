package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Nearest;
import dev.idem.cli.PayloadFile;
import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.InboxRevision;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
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
                + "headers only names and sizes are shown, and the payload only where --payload says.",
        footer = {
            "",
            "Examples:",
            "  idem inbox show 17 --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox show --consumer mail --message-id m-1 --payload - --json --url jdbc:h2:file:./shop"
        })
final class InboxShowCommand extends DatabaseCommand {
    private static final int LOOKED_AT = 100;

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

    @Option(
            names = "--payload",
            paramLabel = "FILE",
            description =
                    "Write the payload to this new file, byte for byte, readable by its owner only. A file that is there is"
                            + " not overwritten. - is the standard output, which then has nothing else; with --json the payload is"
                            + " in the object, as text if it is UTF-8, else in base64.")
    @Nullable
    String payload;

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
                return refuse(inbox);
            }
            List<InboxRevision> revisions = number.map(inbox::revisions).orElse(List.of());
            Optional<byte[]> bytes = payload == null ? Optional.empty() : number.flatMap(n -> bytes(inbox, n));
            print(detail.get(), revisions, bytes);
            return ExitCodes.OK;
        }
    }

    private void print(InboxMessage.Detail detail, List<InboxRevision> revisions, Optional<byte[]> bytes)
            throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        boolean standard = PayloadFile.isStandard(payload);
        if (payload != null && !standard && bytes.isPresent()) {
            PayloadFile.write(payload, bytes.get());
        }
        if (json) {
            out.println(Json.line(DetailLine.of(detail, revisions, standard ? bytes : Optional.empty())));
        } else if (standard && bytes.isPresent()) {
            PayloadFile.print(out, bytes.get());
        } else {
            DetailText.print(out, detail, revisions);
        }
        out.flush();
    }

    private int refuse(JdbcInbox inbox) {
        List<String> there = new ArrayList<>();
        String wrong = messageId == null ? String.valueOf(id) : messageId;
        if (id != null) {
            for (JdbcInbox.Sorted sorted : JdbcInbox.Sorted.values()) {
                inbox.list(InboxFilter.all(), sorted, 2, Optional.of(id))
                        .messages()
                        .forEach(near -> there.add(Long.toString(near.id())));
            }
        } else {
            inbox.list(
                            InboxFilter.all().withConsumer(consumer),
                            JdbcInbox.Sorted.NEWEST_FIRST,
                            LOOKED_AT,
                            Optional.empty())
                    .messages()
                    .forEach(near -> there.add(near.messageId()));
        }
        PrintWriter err = spec.commandLine().getErr();
        err.println("Message " + Printable.line(wrong) + " is not in the queue: it is done, or was never there."
                + Nearest.to(wrong, there) + " See 'idem inbox list'.");
        err.flush();
        return ExitCodes.CHECK_FAILED;
    }

    private Optional<byte[]> bytes(JdbcInbox inbox, long number) {
        return revision == null ? inbox.payload(number) : inbox.payload(number, revision);
    }
}
