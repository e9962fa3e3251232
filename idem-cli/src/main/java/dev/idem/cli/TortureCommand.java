package dev.idem.cli;

import picocli.CommandLine.Command;

/** Stands where the campaigns would be: they start and kill real servers, which this command is kept free of. */
@Command(
        name = "torture",
        description =
                "Tries to break the promises of the library on real servers, and counts in the business tables. Part of the"
                        + " source tree only: there, ./idem torture builds and runs it.",
        footer = {"", "Example:", "  ./idem torture --help"})
final class TortureCommand extends SourceTreeCommand {
    TortureCommand() {
        super("The campaigns", "./idem torture");
    }
}
