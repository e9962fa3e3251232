package dev.idem.cli;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcConsumers;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;

/** Says that a consumer is not there, where an empty answer would look like good news. */
public final class UnknownConsumer {
    private UnknownConsumer() {}

    /** True, and said, if no consumer of that name has been here. */
    public static boolean refused(String name, JdbcSchema schema, CommandLine command) {
        List<String> known = names(schema);
        if (known.contains(name)) {
            return false;
        }
        say(name, known, command);
        return true;
    }

    /** The names of those that have been here. */
    public static List<String> names(JdbcSchema schema) {
        return JdbcConsumers.of(schema).list().stream()
                .map(JdbcConsumers.Known::name)
                .toList();
    }

    /** Says that it is none of these. */
    public static void say(String name, List<String> known, CommandLine command) {
        PrintWriter err = command.getErr();
        err.println("There is no consumer " + Printable.line(name) + "." + Nearest.to(name, known)
                + " See 'idem consumer list'.");
        err.flush();
    }
}
