package dev.idem.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Unmatched;

/** Stands where the benchmarks would be: they bring the libraries of others, which this command is kept free of. */
@Command(
        name = "bench",
        description =
                "Measures what a message costs, beside the bare transaction and the libraries of others. Part of the"
                        + " source tree only: there, ./idem bench builds and runs it.",
        footer = {"", "Example:", "  ./idem bench --help"})
final class BenchCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Unmatched
    List<String> rest = new ArrayList<>();

    @Override
    public Integer call() {
        throw new CliException(
                "The benchmarks are not part of this program",
                "Run ./idem bench in Idem's source tree, which builds them",
                null);
    }
}
