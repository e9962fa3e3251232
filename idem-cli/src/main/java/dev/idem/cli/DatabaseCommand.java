package dev.idem.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What every command has that works on a database with Idem's tables. */
public abstract class DatabaseCommand implements Callable<Integer> {
    @Mixin
    protected CommonOptions common = new CommonOptions();

    @Mixin
    protected ConnectionOptions connection = new ConnectionOptions();

    @Mixin
    protected TableOptions tables = new TableOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    protected CommandSpec spec;
}
