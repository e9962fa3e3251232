package dev.idem.cli.schema;

import dev.idem.cli.CommonOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code idem schema}: groups what concerns the tables. */
@Command(
        name = "schema",
        description = "Prints, creates and checks the tables that Idem keeps.",
        subcommands = {SchemaPrintCommand.class, SchemaApplyCommand.class, SchemaValidateCommand.class},
        footer = {
            "",
            "Examples:",
            "  idem schema print --database postgresql > idem.sql",
            "  idem schema apply --url jdbc:postgresql://db/shop --user owner --password-env PGPASSWORD",
            "  idem schema validate --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
public final class SchemaCommand implements Runnable {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say what to do: print, apply or validate");
    }
}
