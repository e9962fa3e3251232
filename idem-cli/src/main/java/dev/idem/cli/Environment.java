package dev.idem.cli;

/** Secrets from the environment: arguments are seen by everybody who may list the processes of the machine. */
public final class Environment {
    private Environment() {}

    /** The value of a variable that must be set. */
    public static String secret(String variable, String otherwise) {
        String value = System.getenv(variable);
        if (value == null) {
            throw new CliException(
                    "The environment variable " + variable + " is not set",
                    "Set it to the password, or " + otherwise,
                    null);
        }
        return value;
    }
}
