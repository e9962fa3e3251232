package dev.idem.cli;

import picocli.CommandLine.Command;

/** Stands where the benchmarks would be: they bring the libraries of others, which this command is kept free of. */
@Command(
        name = "bench",
        description =
                "Measures what a message costs, beside the bare transaction and the libraries of others. Part of the"
                        + " source tree only: there, ./idem bench builds and runs it.",
        footer = {"", "Example:", "  ./idem bench --help"})
final class BenchCommand extends SourceTreeCommand {
    BenchCommand() {
        super("The benchmarks", "./idem bench");
    }
}
