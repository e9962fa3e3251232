package dev.idem.test.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForkedJvmTest {
    private static final List<String> SMALL = List.of("-Xmx32m", "-Xshare:auto", "-XX:TieredStopAtLevel=1");

    @Test
    void runsAMainClassOnTheSameClassPath() throws Exception {
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Greeter.class, "a b", "")) {
            assertThat(jvm.waitForExit(Await.LIMIT)).isEqualTo(3);
            assertThat(jvm.lines()).containsExactly("[a b][]", "input ended: true", "to the error stream");
            assertThat(jvm.isAlive()).isFalse();
        }
    }

    @Test
    void anExceptionInMainIsAFailureToBeSeen() throws Exception {
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Thrower.class)) {
            assertThat(jvm.waitForExit(Await.LIMIT)).isEqualTo(1);
            assertThat(jvm.lines()).anyMatch(line -> line.contains("IllegalStateException: on purpose"));
        }
    }

    @Test
    void killHardRunsNoShutdownHook() throws Exception {
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Sleeper.class)) {
            jvm.waitForLine("ready"::equals, Await.LIMIT);
            jvm.killHard();
            assertThat(jvm.isAlive()).isFalse();
            assertThat(jvm.waitForExit(Duration.ZERO)).isEqualTo(128 + 9);
            assertThat(jvm.lines()).containsExactly("ready");
        }
    }

    @Test
    void saysWhatWasPrintedWhenALineDoesNotCome() throws Exception {
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Greeter.class, "x")) {
            assertThatThrownBy(() -> jvm.waitForLine("y"::equals, Await.LIMIT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("before the process ended")
                    .hasMessageContaining("[x]");
            assertThat(jvm.waitForLine("[x]"::equals, Duration.ZERO)).isEqualTo("[x]");
        }
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Sleeper.class)) {
            jvm.waitForLine("ready"::equals, Await.LIMIT);
            assertThatThrownBy(() -> jvm.waitForLine("y"::equals, Duration.ofMillis(1)))
                    .hasMessageContaining("within PT0.001S")
                    .hasMessageContaining("ready")
                    .hasMessageContaining("Sleeper.main");
            assertThatThrownBy(() -> jvm.waitForExit(Duration.ofMillis(1))).hasMessageContaining("still runs");
        }
    }

    @Test
    void pauseStopsTheProcessUntilResumed(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("ticks");
        try (ForkedJvm jvm = ForkedJvm.start(SMALL, Ticker.class, file.toString())) {
            jvm.waitForLine("ready"::equals, Await.LIMIT);
            jvm.pause();
            assertThat(jvm.isAlive()).isTrue();
            long paused = Files.size(file);
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos()); // time in which a running ticker would tick
            assertThat(Files.size(file)).isEqualTo(paused);

            jvm.resume();
            Await.until("it ticks again", () -> Files.size(file) > paused);
        }
    }

    @Test
    void closeKillsAPausedProcessToo() throws Exception {
        ForkedJvm jvm = ForkedJvm.start(SMALL, Sleeper.class);
        jvm.waitForLine("ready"::equals, Await.LIMIT);
        jvm.pause();
        jvm.close();
        jvm.close();
        assertThat(jvm.isAlive()).isFalse();
    }

    @Test
    void theChildDiesWithItsParent() throws Exception {
        try (ForkedJvm parent = ForkedJvm.start(SMALL, Parent.class)) {
            String line = parent.waitForLine(printed -> printed.startsWith("child "), Await.LIMIT);
            ProcessHandle child =
                    ProcessHandle.of(Long.parseLong(line.substring(6))).orElseThrow();
            assertThat(child.isAlive()).isTrue();
            parent.killHard();
            Await.until("the child is gone", () -> !child.isAlive());
        }
    }

    static final class Greeter {
        public static void main(String[] args) throws IOException {
            System.out.println(String.join(
                    "", List.of(args).stream().map(a -> "[" + a + "]").toList()));
            System.out.println("input ended: " + (System.in.read() < 0));
            System.err.println("to the error stream");
            System.exit(3);
        }
    }

    static final class Thrower {
        public static void main(String[] args) {
            throw new IllegalStateException("on purpose");
        }
    }

    static final class Sleeper {
        public static void main(String[] args) throws InterruptedException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            System.out.println("ready");
            Thread.currentThread().join();
        }
    }

    static final class Ticker {
        public static void main(String[] args) throws IOException {
            try (var out = Files.newOutputStream(Path.of(args[0]))) {
                System.out.println("ready");
                while (true) {
                    out.write(1);
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }
    }

    static final class Parent {
        public static void main(String[] args) throws InterruptedException {
            ForkedJvm child = ForkedJvm.start(SMALL, Sleeper.class);
            child.waitForLine("ready"::equals, Await.LIMIT);
            System.out.println("child " + child.pid());
            Thread.currentThread().join();
        }
    }
}
