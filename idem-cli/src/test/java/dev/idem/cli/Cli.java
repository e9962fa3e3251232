package dev.idem.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** Runs the command line in this JVM and keeps what it says. */
public record Cli(int code, String out, String err) {
    public static Cli run(String... args) {
        var out = new StringWriter();
        var err = new StringWriter();
        CommandLine command = Main.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
        int code = command.execute(args);
        return new Cli(code, out.toString(), err.toString());
    }

    public String lastLine() {
        return out.lines().reduce((first, second) -> second).orElse("");
    }
}
