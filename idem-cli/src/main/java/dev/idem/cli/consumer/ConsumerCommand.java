package dev.idem.cli.consumer;

import dev.idem.cli.CommonOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
public final class ConsumerCommand implements Runnable {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do: list or rename");
    }
}
