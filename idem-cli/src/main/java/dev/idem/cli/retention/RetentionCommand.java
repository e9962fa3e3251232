package dev.idem.cli.retention;

import dev.idem.cli.CommonOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
public final class RetentionCommand implements Runnable {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do: run");
    }
}
