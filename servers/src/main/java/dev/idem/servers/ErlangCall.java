package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a running Erlang node, in a few milliseconds; the broker's own command takes seconds. */
record ErlangCall(Path program, int port, String cookie) {
    private static final Pattern ANSWER = Pattern.compile("\\{ok, (-?\\d+)}");

    /** The value of expressions that end in a number. */
    long number(String expressions) {
        try {
            Process call = new ProcessBuilder(
                            program.toString(),
                            "-address",
                            "localhost:" + port,
                            "-c",
                            cookie,
                            "-r",
                            "-timeout",
                            "20",
                            "-e")
                    .redirectErrorStream(true)
                    .start();
            try (var input = call.getOutputStream()) {
                input.write(expressions.getBytes(StandardCharsets.UTF_8));
            }
            String output = new String(call.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            call.waitFor();
            Matcher answer = ANSWER.matcher(output);
            if (!answer.find()) {
                throw new ServerException("The broker could not answer: " + output.strip(), null);
            }
            return Long.parseLong(answer.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException("Could not ask the broker", e);
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }
}
