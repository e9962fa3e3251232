package dev.idem.cli.demo;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;

/** How far the lanes are: one line that changes on a terminal, a new line now and then elsewhere. */
final class Progress {
    private static final Duration ELSEWHERE = Duration.ofSeconds(4);
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintWriter out;
    private final boolean terminal;
    private final int total;
    private final long started = System.nanoTime();
    private long printed = started;

    Progress(PrintWriter out, boolean terminal, int total) {
        this.out = out;
        this.terminal = terminal;
        this.total = total;
    }

    @SuppressWarnings("SystemConsoleNull") // is told apart below
    static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            // From Java 22 on there is always a console, which knows whether it is a terminal.
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException olderJava) {
            return true;
        }
    }

    void show(Run idem, Run naive) {
        long now = System.nanoTime();
        if (!terminal && now - printed < ELSEWHERE.toNanos()) {
            return;
        }
        printed = now;
        String line = "  " + part("Idem", idem) + ", " + part("by hand", naive) + ", "
                + Duration.ofNanos(now - started).toSeconds() + " s";
        if (terminal) {
            out.print(CLEAR_LINE + line);
        } else {
            out.println(line);
        }
        out.flush();
    }

    void end() {
        if (terminal) {
            out.print(CLEAR_LINE);
            out.flush();
        }
    }

    double seconds() {
        return Duration.ofNanos(System.nanoTime() - started).toMillis() / 1000.0;
    }

    private String part(String name, Run lane) {
        return name + ": " + lane.settled() + " of " + total + " settled, kills " + lane.killed();
    }
}
