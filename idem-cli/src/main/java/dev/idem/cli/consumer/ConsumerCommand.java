package dev.idem.cli.consumer;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem consumer}: groups what concerns the names of consumers. */
@Command(
        name = "consumer",
        description = "Lists and renames the consumers that a database knows.",
        subcommands = {ConsumerListCommand.class, ConsumerRenameCommand.class},
        footer = {
            "",
            "Examples:",
            "  idem consumer list --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem consumer rename billing payment-service --url jdbc:postgresql://db/shop --user shop --password"
        })
public final class ConsumerCommand extends CommandGroup {}
