package dev.idem.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Unmatched;

/** Stands where a command of the source tree would be, which is a program of its own, and says how to run that. */
abstract class SourceTreeCommand implements Callable<Integer> {
    private final String what;
    private final String command;

    @Mixin
    CommonOptions common = new CommonOptions();

    @Unmatched
    List<String> rest = new ArrayList<>();

    SourceTreeCommand(String what, String command) {
        this.what = what;
        this.command = command;
    }

    @Override
    public Integer call() {
        throw new CliException(
                what + " are not part of this program",
                "Run " + command + " in Idem's source tree, which builds them",
                null);
    }
}
