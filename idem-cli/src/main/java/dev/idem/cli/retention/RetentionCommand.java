package dev.idem.cli.retention;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem retention}: groups what concerns the windows of consumers. */
@Command(
        name = "retention",
        description = "Removes markers and results that are older than their consumers' windows.",
        subcommands = RetentionRunCommand.class,
        footer = {
            "",
            "Examples:",
            "  idem retention run --dry-run --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem retention run --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
public final class RetentionCommand extends CommandGroup {}
