package dev.idem.cli;

import dev.idem.jdbc.JdbcConsumers;
import dev.idem.jdbc.JdbcSchema;
import java.io.PrintWriter;
import picocli.CommandLine;

/** Says that a consumer is not there, where an empty answer would look like good news. */
public final class UnknownConsumer {
    private UnknownConsumer() {}

    /** True, and said, if no consumer of that name has been here. */
    public static boolean refused(String name, JdbcSchema schema, CommandLine command) {
        if (JdbcConsumers.of(schema).list().stream()
                .anyMatch(known -> known.name().equals(name))) {
            return false;
        }
        PrintWriter err = command.getErr();
        err.println("There is no consumer " + Printable.line(name) + ". See 'idem consumer list'.");
        err.flush();
        return true;
    }
}
