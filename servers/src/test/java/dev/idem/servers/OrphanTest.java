package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A JVM that is killed gets no chance to stop its servers. */
class OrphanTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void serversDieWithAKilledJvm() throws IOException {
        try (var jvm = new OtherJvm("postgres", "mariadb")) {
            List<ProcessHandle> servers = Stream.of(jvm.readLine(), jvm.readLine())
                    .flatMap(line -> processes(line).stream())
                    .toList();
            assertThat(servers).hasSizeGreaterThan(2).allMatch(ProcessTree::runs);
            jvm.kill();
            assertThat(Waiting.until(LIMIT, () -> servers.stream().noneMatch(ProcessTree::runs)))
                    .isTrue();
        }
    }

    @Test
    void theNextJvmRemovesWhatAPausedServerLeft() throws IOException {
        Path data;
        List<ProcessHandle> servers;
        try (var jvm = new OtherJvm("postgres", "pause")) {
            servers = processes(jvm.readLine());
            data = Path.of(jvm.readLine());
            assertThat(data).exists();
            jvm.kill();
        }
        try (var next = new OtherJvm("postgres")) {
            next.readLine();
            assertThat(Waiting.until(LIMIT, () -> servers.stream().noneMatch(ProcessTree::runs)))
                    .isTrue();
            assertThat(Files.exists(data)).isFalse();
        }
    }

    private static List<ProcessHandle> processes(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).stream()
                .flatMap(server -> Stream.concat(Stream.of(server), server.descendants()))
                .toList();
    }

    private static final class OtherJvm implements AutoCloseable {
        private final Process process;
        private final BufferedReader output;

        OtherJvm(String... tasks) throws IOException {
            var command = Stream.concat(
                    Stream.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Tasks.class.getName()),
                    Stream.of(tasks));
            process = new ProcessBuilder(command.toList())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            output = process.inputReader();
        }

        String readLine() throws IOException {
            return output.readLine();
        }

        void kill() {
            process.destroyForcibly();
        }

        @Override
        public void close() throws IOException {
            kill();
            output.close();
        }
    }

    static final class Tasks {
        private Tasks() {}

        public static void main(String[] tasks) throws InterruptedException {
            DatabaseServer server = null;
            for (String task : tasks) {
                if (task.equals("pause")) {
                    server.pause();
                    System.out.println(server.log().getParent());
                } else {
                    server = task.equals("postgres") ? PostgresServer.start() : MariaDbServer.start();
                    System.out.println(server.pid());
                }
            }
            Thread.currentThread().join();
        }
    }
}
