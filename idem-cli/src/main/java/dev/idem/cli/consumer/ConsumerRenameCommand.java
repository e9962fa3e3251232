package dev.idem.cli.consumer;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Printable;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcConsumers;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem consumer rename}: a new name with the old memory. */
@Command(
        name = "rename",
        description = "Gives a consumer a new name and leaves it its memory, so that nothing is processed "
                + "again. Stop the instances that use the old name first, and start them with the new one. "
                + "Let the consumer keep its old name as its scope (Consumer.Builder.scope): then keys of effects, "
                + "and ids and sources of publications, stay as they were.",
        footer = {
            "",
            "Example:",
            "  idem consumer rename billing payment-service --url jdbc:postgresql://db/shop --user shop --password"
        })
final class ConsumerRenameCommand extends DatabaseCommand {
    @Parameters(index = "0", paramLabel = "OLD", description = "The name it has.")
    String from = "";

    @Parameters(index = "1", paramLabel = "NEW", description = "The name it gets; no other consumer may have it.")
    String to = "";

    @Override
    public Integer call() throws Exception {
        CommandLine command = spec.commandLine();
        try {
            Consumer.of(to);
        } catch (IllegalArgumentException unusable) {
            throw new ParameterException(command, String.valueOf(unusable.getMessage()), unusable);
        }
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            JdbcConsumers consumers = JdbcConsumers.of(schema);
            if (consumers.rename(from, to)) {
                command.getOut()
                        .println(Printable.line(from) + " is now " + Printable.line(to)
                                + "; start its instances with the new name.");
                command.getOut().flush();
                return ExitCodes.OK;
            }
            UnknownConsumer.say(from, UnknownConsumer.names(schema), command);
            return ExitCodes.CHECK_FAILED;
        }
    }
}
