package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.Replayer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Replays whose handler ignores its timeout and interrupts. */
class ReplayStuckTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-04 LS-03 a session whose handler never returns is taken over after its executor was closed")
    void closed(Database database) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Consumer hanging = Consumer.named("payments")
                .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED).withHandlerTimeout(Duration.ofMillis(200)))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    entered.countDown();
                    hang(end);
                    return null;
                })
                .build();
        Consumer sound = ReplayBench.paying(Policy.Replay.ALLOWED).build();
        try (ReplayBench bench = new ReplayBench(database);
                Inbox other = bench.db.inbox(bench.db.pool(6))) {
            bench.given.addAll(ReplayBench.messages(3));
            Replayer stuck = bench.replayer(hanging);
            bench.anna().start("one", "payments", ReplayBench.GIVEN);
            Together.await(entered);
            Thread.currentThread().interrupt(); // does not wait for it
            stuck.close();
            assertThat(Thread.interrupted()).isTrue();
            try (Replayer next = Replayer.builder(other)
                    .consumer(sound)
                    .source(bench.given())
                    .lease(Duration.ofSeconds(1))
                    .poll(Duration.ofMillis(50))
                    .start()) {
                assertThat(next).isNotNull();
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> bench.replays.status("one").orElseThrow().state() == ReplaySession.State.DONE);
                assertThat(bench.db.payments()).isEqualTo(3);
            } finally {
                end.countDown();
            }
        }
    }

    private static void hang(CountDownLatch end) {
        boolean ended = false;
        while (!ended) {
            try {
                end.await();
                ended = true;
            } catch (InterruptedException ignored) {
                // that is what makes it stuck
            }
        }
    }
}
