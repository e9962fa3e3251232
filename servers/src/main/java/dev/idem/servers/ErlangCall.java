package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a running Erlang node, in a few milliseconds; the broker's own command takes seconds. Thread-safe. */
record ErlangCall(Path program, int port, String cookie) {
    private static final Pattern ANSWER = Pattern.compile("\\{ok, (-?\\d+)}");
    private static final int TRIES = 20;

    /**
     * The value of expressions that end in a number. One question at a time, and asked again for a while: those who ask
     * together may come under the same name, of which the node knows one.
     */
    synchronized long number(String expressions) {
        for (int i = 1; ; i++) {
            try {
                return once(expressions);
            } catch (ServerException unanswered) {
                if (i == TRIES) {
                    throw unanswered;
                }
                Waiting.shortly();
            }
        }
    }

    private long once(String expressions) {
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
