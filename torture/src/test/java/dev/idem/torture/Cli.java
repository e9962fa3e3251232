package dev.idem.torture;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** Runs the command line with the campaigns in this JVM and keeps what it says. */
record Cli(int code, String out, String err) {
    static Cli run(String... args) {
        var out = new StringWriter();
        var err = new StringWriter();
        CommandLine command = dev.idem.cli.Main.commandLine(new TortureCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
        int code = command.execute(args);
        return new Cli(code, out.toString(), err.toString());
    }

    String lastLine() {
        return out.lines().reduce((first, second) -> second).orElse("");
    }
}
