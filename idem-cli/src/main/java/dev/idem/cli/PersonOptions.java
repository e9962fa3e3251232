package dev.idem.cli;

import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Who does something, and why. */
public final class PersonOptions {
    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why; goes to the audit.")
    String reason = "";

    @Option(
            names = {"--actor", "--by"},
            paramLabel = "NAME",
            description = "Who; goes to the audit. Default the user of this system.")
    @Nullable
    String actor = System.getProperty("user.name");

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    /** Acts in their name, where both texts say something. */
    public <T> T as(BiFunction<String, String, T> acting) {
        if (actor == null || actor.isBlank() || reason.isBlank()) {
            throw new ParameterException(command.commandLine(), "--actor and --reason must not be blank");
        }
        try {
            return acting.apply(actor, reason);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(command.commandLine(), "--actor or --reason: " + wrong.getMessage(), wrong);
        }
    }
}
