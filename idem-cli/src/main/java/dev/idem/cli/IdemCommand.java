package dev.idem.cli;

import dev.idem.cli.consumer.ConsumerCommand;
import dev.idem.cli.demo.DemoCommand;
import dev.idem.cli.dlq.DlqCommand;
import dev.idem.cli.inbox.InboxCommand;
import dev.idem.cli.replay.ReplayCommand;
import dev.idem.cli.retention.RetentionCommand;
import dev.idem.cli.schema.SchemaCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The root of all subcommands; does nothing by itself. */
@Command(
        name = "idem",
        description = "Makes the effects of messages happen once, although they arrive many times.",
        subcommands = {
            DemoCommand.class,
            SchemaCommand.class,
            ConsumerCommand.class,
            RetentionCommand.class,
            InboxCommand.class,
            DlqCommand.class,
            ReplayCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  idem demo                                     see it survive crashes and duplicates",
            "  idem schema print --database postgresql       the tables, as SQL",
            "  idem schema validate --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
final class IdemCommand implements Runnable {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "No command given");
    }
}
