package dev.idem.torture;

/** The idem command with the campaigns in it, which are kept out of the ordinary one. */
public final class Main {
    private Main() {}

    public static void main(String... args) {
        System.exit(dev.idem.cli.Main.commandLine(new TortureCommand()).execute(args));
    }
}
