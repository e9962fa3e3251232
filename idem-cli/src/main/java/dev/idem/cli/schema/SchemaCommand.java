package dev.idem.cli.schema;

import dev.idem.cli.CommandGroup;
import picocli.CommandLine.Command;

/** {@code idem schema}: groups what concerns the tables. */
@Command(
        name = "schema",
        description = "Prints, creates and checks the tables that Idem keeps.",
        subcommands = {
            SchemaPrintCommand.class,
            SchemaApplyCommand.class,
            SchemaValidateCommand.class,
            SchemaAcceptLossCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  idem schema print --database postgresql > idem.sql",
            "  idem schema apply --url jdbc:postgresql://db/shop --user owner --password-env PGPASSWORD",
            "  idem schema validate --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD"
        })
public final class SchemaCommand extends CommandGroup {}
