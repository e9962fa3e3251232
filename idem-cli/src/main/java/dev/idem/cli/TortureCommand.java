package dev.idem.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Unmatched;

/** Stands where the campaigns would be: they start and kill real servers, which this command is kept free of. */
@Command(
        name = "torture",
        description =
                "Tries to break the promises of the library on real servers, and counts in the business tables. Part of the"
                        + " source tree only: there, ./idem torture builds and runs it.",
        footer = {"", "Example:", "  ./idem torture --help"})
final class TortureCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Unmatched
    List<String> rest = new ArrayList<>();

    @Override
    public Integer call() {
        throw new CliException(
                "The campaigns are not part of this program",
                "Run ./idem torture in Idem's source tree, which builds them",
                null);
    }
}
