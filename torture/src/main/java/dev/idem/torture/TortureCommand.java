package dev.idem.torture;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem torture}: groups the campaigns. */
@Command(
        name = "torture",
        description =
                "Tries to break the promises of the library on a real database, and counts in the business tables.",
        subcommands = {
            TortureInboxCommand.class,
            TortureKafkaCommand.class,
            TortureRabbitCommand.class,
            TorturePipelineCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  idem torture inbox --minutes 3 --seed 42",
            "  idem torture kafka --minutes 3",
            "  idem torture rabbitmq --minutes 3",
            "  idem torture pipeline --minutes 3"
        })
public final class TortureCommand extends CommandGroup {}
