package dev.idem.bench;

/** The idem command with the benchmarks in it; their libraries are kept out of the ordinary one. */
public final class Main {
    private Main() {}

    public static void main(String... args) {
        System.exit(dev.idem.cli.Main.commandLine(new BenchCommand()).execute(args));
    }
}
