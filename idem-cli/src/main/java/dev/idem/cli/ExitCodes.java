package dev.idem.cli;

/** What the command tells a script. The same for every subcommand. */
public final class ExitCodes {
    public static final int OK = 0;
    /** The command worked, and what it checked is not as it should be. */
    public static final int CHECK_FAILED = 1;

    public static final int USAGE = 2;
    /** The question could not be answered: a server is out of reach, a file cannot be written. */
    public static final int ERROR = 3;

    private ExitCodes() {}
}
