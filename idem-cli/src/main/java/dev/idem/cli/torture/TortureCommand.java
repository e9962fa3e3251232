package dev.idem.cli.torture;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem torture}: groups the campaigns. */
@Command(
        name = "torture",
        description =
                "Tries to break the promises of the library on a real database, and counts in the business tables.",
        subcommands = TortureInboxCommand.class,
        footer = {"", "Example:", "  idem torture inbox --minutes 3 --seed 42"})
public final class TortureCommand extends CommandGroup {}
