package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A JVM that is killed gets no chance to stop its servers. */
class OrphanTest {
    @Test
    void serversDieWithAKilledJvm() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process jvm = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Starter.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = jvm.inputReader()) {
            List<ProcessHandle> servers = Stream.of(out.readLine(), out.readLine())
                    .map(Long::valueOf)
                    .flatMap(pid -> ProcessHandle.of(pid).stream())
                    .flatMap(server -> Stream.concat(Stream.of(server), server.descendants()))
                    .toList();
            assertThat(servers).hasSizeGreaterThan(2).allMatch(ProcessHandle::isAlive);
            jvm.destroyForcibly();
            assertThat(Waiting.until(
                            Duration.ofSeconds(30), () -> servers.stream().noneMatch(ProcessHandle::isAlive)))
                    .isTrue();
        } finally {
            jvm.destroyForcibly();
        }
    }

    static final class Starter {
        private Starter() {}

        public static void main(String[] args) throws InterruptedException {
            System.out.println(PostgresServer.start().pid());
            System.out.println(MariaDbServer.start().pid());
            Thread.currentThread().join();
        }
    }
}
