package dev.idem.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.spi.FaultPoint;
import dev.idem.test.fault.ForkedJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CrashPointTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void firesOnceAtItsTime() {
        CrashPoint crash = CrashPoint.at(FaultPoint.BEFORE_COMMIT).time(2).throwException();
        Inbox inbox = Inbox.builder(new MemoryStore()).steps(crash).build();
        assertThatCode(() -> deliver(inbox, "1")).doesNotThrowAnyException();
        assertThat(crash.fired()).isFalse();
        assertThatThrownBy(() -> deliver(inbox, "2"))
                .isInstanceOf(CrashPoint.CrashException.class)
                .hasMessage("Crash at BEFORE_COMMIT");
        assertThat(crash.fired()).isTrue();
        assertThatCode(() -> deliver(inbox, "2")).doesNotThrowAnyException();
    }

    @Test
    void everyStepOfAGoodDeliveryCanBeReached() {
        for (FaultPoint step : Scenario.STEPS) {
            Inbox inbox = Inbox.builder(new MemoryStore())
                    .steps(CrashPoint.at(step).throwError())
                    .build();
            assertThatThrownBy(() -> deliver(inbox, "1")).isInstanceOf(CrashPoint.CrashError.class);
        }
    }

    @Test
    void everyOtherStepCanBeReachedByAFailure() {
        List<FaultPoint> reached = new ArrayList<>();
        Inbox inbox = Inbox.builder(FlakyStore.around(new MemoryStore()).undoCommits(1))
                .steps((step, key) -> reached.add(step))
                .build();
        deliver(inbox, "1");
        assertThatThrownBy(() -> inbox.process("c", Message.of("2", new byte[0]), tx -> {
                    throw new IllegalStateException("fails");
                }))
                .hasMessage("fails");
        assertThat(reached).contains(FaultPoint.values());
    }

    @Test
    void haltEndsTheProcessWithoutCleanUp() throws Exception {
        try (ForkedJvm child = ForkedJvm.start(Child.class, "halt")) {
            assertThat(child.waitForExit(LIMIT)).isEqualTo(CrashPoint.HALT_STATUS);
            assertThat(child.lines()).doesNotContain("cleaned up");
        }
    }

    @Test
    void awaitKillSaysWhenItIsReady() throws Exception {
        try (ForkedJvm child = ForkedJvm.start(Child.class, "kill")) {
            child.waitForLine((CrashPoint.READY_TO_DIE + FaultPoint.AFTER_HANDLER)::equals, LIMIT);
            child.killHard();
            assertThat(child.lines()).doesNotContain("cleaned up");
        }
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertThatThrownBy(() -> CrashPoint.at(FaultPoint.BEFORE_CLAIM).time(0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static void deliver(Inbox inbox, String id) {
        inbox.process("c", Message.of(id, new byte[0]), tx -> "done");
    }

    static final class Child {
        public static void main(String[] args) {
            CrashPoint.Builder crash = CrashPoint.at(FaultPoint.AFTER_HANDLER);
            Inbox inbox = Inbox.builder(new MemoryStore())
                    .steps(args[0].equals("halt") ? crash.halt() : crash.awaitKill())
                    .build();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("cleaned up")));
            try {
                deliver(inbox, "1");
            } finally {
                System.out.println("cleaned up");
            }
        }
    }
}
