package dev.idem.cli.consumer;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.JdbcConsumers;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem consumer list}: names and numbers. */
@Command(
        name = "list",
        description = "Lists the consumers, with the number that stands for each in the tables.",
        footer = {
            "",
            "Examples:",
            "  idem consumer list --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem consumer list --url jdbc:h2:file:./shop --user sa --json"
        })
final class ConsumerListCommand extends DatabaseCommand {
    @Option(names = "--json", description = "Print them as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            List<JdbcConsumers.Known> known =
                    JdbcConsumers.of(tables.in(dataSource)).list();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(new Result(known)));
            } else if (known.isEmpty()) {
                out.println("No consumer has been here yet.");
            } else {
                known.forEach(consumer -> out.printf("%10d  %s%n", consumer.number(), Printable.line(consumer.name())));
            }
            out.flush();
            return 0;
        }
    }

    private record Result(List<JdbcConsumers.Known> consumers) {}
}
