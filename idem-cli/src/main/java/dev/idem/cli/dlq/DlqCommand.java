package dev.idem.cli.dlq;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem dlq}: groups what concerns dead letters. */
@Command(
        name = "dlq",
        description =
                "Looks at dead letters of a broker, and sends them again with the same id, key, headers and payload.",
        subcommands = {DlqListCommand.class, DlqShowCommand.class, DlqReplayCommand.class},
        footer = {
            "",
            "Examples:",
            "  idem dlq list --kafka broker:9092 --topic orders.dead-letters",
            "  idem dlq show 0-17 --kafka broker:9092 --topic orders.dead-letters",
            "  idem dlq replay --consumer billing --all --reason 'provider is back' --rabbitmq amqp://mq --queue orders.dead-letters"
                    + " --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
public final class DlqCommand extends CommandGroup {}
