package dev.idem.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What every subcommand has: help, version, the exit codes in its help, and {@code --verbose}. */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true,
        usageHelpWidth = 110,
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, and all is well",
            "1:the check failed, or what was named is not there",
            "2:wrong usage",
            "3:a database or server cannot be reached, or another error"
        })
public final class CommonOptions {
    static final String VERBOSE = "--verbose";

    @Option(names = VERBOSE, order = 99, description = "Log more, and print the stack trace of an error.")
    boolean verbose;

    public boolean verbose() {
        return verbose;
    }
}
