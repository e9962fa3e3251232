package dev.idem.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Starts the command line. Errors are one line on stderr; a stack trace comes only with {@code --verbose}.
 * Passwords are taken out of both, and what terminals obey is escaped: drivers and brokers quote addresses and messages.
 */
public final class Main {
    private Main() {}

    public static void main(String... args) {
        System.exit(commandLine().execute(args));
    }

    /**
     * The command line, ready to run; also for tests, which redirect its output.
     *
     * @param more commands that are in the source tree only; of those that are missing it says where they are
     */
    public static CommandLine commandLine(Object... more) {
        CommandLine idem = new CommandLine(new IdemCommand());
        for (Object command : more) {
            idem.addSubcommand(command);
        }
        for (Object hint : List.of(new TortureCommand(), new BenchCommand())) {
            if (!idem.getSubcommands().containsKey(new CommandLine(hint).getCommandName())) {
                idem.addSubcommand(hint);
            }
        }
        return idem.setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionStrategy(Main::execute)
                .setParameterExceptionHandler(Main::usageError)
                .setExecutionExceptionHandler(Main::executionError);
    }

    private static int execute(ParseResult parsed) {
        Logging.configure(isVerbose(parsed));
        return new RunLast().execute(parsed);
    }

    private static int usageError(ParameterException error, String[] args) {
        CommandLine command = error.getCommandLine();
        PrintWriter err = command.getErr();
        String name = command.getCommandSpec().qualifiedName();
        String said = Printable.line(Redaction.of(List.of(args)).apply(firstLine(error)));
        printError(err, name + ": " + said + ". Try '" + name + " --help'.");
        UnmatchedArgumentException.printSuggestions(error, err);
        return ExitCodes.USAGE;
    }

    private static int executionError(Exception error, CommandLine command, @Nullable ParseResult parsed) {
        PrintWriter err = command.getErr();
        Redaction redaction = parsed == null ? Redaction.patterns() : Redaction.of(parsed.originalArgs());
        String said = Printable.line(redaction.apply(ErrorLine.of(error)));
        printError(err, command.getCommandSpec().qualifiedName() + ": " + said);
        if (parsed != null && isVerbose(parsed)) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace));
            err.print(Printable.trace(redaction.apply(trace.toString())));
            err.flush();
        }
        return error instanceof MissingException ? ExitCodes.CHECK_FAILED : ExitCodes.ERROR;
    }

    private static boolean isVerbose(ParseResult parsed) {
        List<CommandLine> commands = parsed.asCommandLineList();
        return commands.stream().anyMatch(c -> c.getParseResult().hasMatchedOption(CommonOptions.VERBOSE));
    }

    private static void printError(PrintWriter err, String line) {
        // Not parsed for markup: the text may quote anything. What a terminal would obey is escaped already.
        err.println(Ansi.AUTO.enabled() ? "\u001b[31m" + line + "\u001b[39m" : line);
        err.flush();
    }

    private static String firstLine(Exception error) {
        String message = error.getMessage() == null ? error.toString() : error.getMessage();
        String line = message.lines().findFirst().orElse(message);
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
