package dev.idem.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.ListenerState;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What redelivery, lost connections and acknowledgements may not do. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class RabbitInboxListenerTest {
    private final CountDownLatch go = new CountDownLatch(1);

    @Test
    @DisplayName("MQ-01 MQ-03 connections killed with a full prefetch: the redelivered flag and counts decide nothing")
    void killedWithPrefetch() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 30);
            RabbitInboxListener listener = scene.listen(how -> how.prefetch(20), scene.single(message -> go.await()));
            for (int generation = 1; generation <= 4; generation++) {
                awaitPrefetch(listener, generation, 20);
                scene.bench.server.closeConnections();
            }
            awaitPrefetch(listener, 5, 20);
            go.countDown();
            scene.awaitEachOnce(30);
            assertThat(listener.status().redelivered()).isGreaterThanOrEqualTo(4 * 20);
            assertThat(scene.runs).as("no message is tried more than once").hasSize(30);
            assertThat(scene.letters()).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "MQ-06 a connection killed in the middle of a handler: its acknowledgement is dropped without a channel error")
    void staleAcknowledgement() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 5);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(message -> go.await()));
            Scene.until("a handler runs", () -> !scene.runs.isEmpty());
            scene.bench.server.closeConnections();
            awaitPrefetch(listener, 2, 5);
            go.countDown();
            scene.awaitEachOnce(5);
            scene.bench.send(5, 10);
            scene.awaitEachOnce(10);
            assertThat(listener.status().generation())
                    .as("no channel was closed")
                    .isEqualTo(2);
            assertThat(listener.status().unsettled()).isZero();
        }
    }

    @Test
    @DisplayName(
            "MQ-06 a connection killed in the middle of a handler that fails: it comes again, and leaves one letter")
    void staleLetter() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 1);
            RabbitInboxListener listener = scene.listen(how -> how, scene.single(message -> {
                go.await();
                throw new TerminalException("never", null);
            }));
            Scene.until("the handler runs", () -> !scene.runs.isEmpty());
            scene.bench.server.closeConnections();
            awaitPrefetch(listener, 2, 1);
            go.countDown();
            Scene.until("it is settled", () -> scene.bench.messages() == 0);
            assertThat(scene.runs).hasSize(2);
            assertThat(scene.letters()).hasSize(1);
        }
    }

    @Test
    @DisplayName(
            "MQ-02 a quorum queue with a delivery limit: the own decision comes first, because nothing is put back")
    void deliveryLimit() throws Exception {
        try (Scene scene = new Scene(Map.of("x-queue-type", "quorum", "x-delivery-limit", 2))) {
            scene.bench.send(0, 3);
            RetryPolicy retry = RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(6);
            scene.listen(how -> how.retry(retry), scene.single(message -> {
                if (message.id().orElseThrow().equals("m1")) {
                    throw new IllegalStateException("always");
                }
            }));
            // A quorum queue tells its size late, so the letter is the sign.
            Scene.until("it is set aside", () -> scene.letters().size() == 1);
            scene.awaitEachOnce(2);
            assertThat(scene.letters())
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.about().attempts()).isEqualTo(6));
        }
    }

    @Test
    @DisplayName("MQ-05 deliveries that wait too long are given back before the broker takes them, and are done once")
    void givenBackInTime() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 10);
            RabbitInboxListener listener =
                    scene.listen(how -> how.longestHold(Duration.ofSeconds(1)), scene.single(message -> go.await()));
            Scene.until("they were given back", () -> listener.status().generation() > 1);
            assertThat(scene.bench.messages()).isEqualTo(10);
            go.countDown();
            scene.awaitEachOnce(10);
        }
    }

    @Test
    @DisplayName("MQ-07 every acknowledgement is for one delivery, and nothing is rejected or put back")
    void acknowledgements() throws Exception {
        try (Scene scene = new Scene()) {
            SpyFactory spy = new SpyFactory(scene.bench.server);
            scene.bench.send(0, 100);
            RetryPolicy retry = RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(2);
            scene.listen(spy, how -> how.retry(retry), scene.single(message -> {
                if (message.id().orElseThrow().endsWith("7")) {
                    throw new IllegalStateException("sometimes");
                }
            }));
            scene.awaitEachOnce(90);
            assertThat(spy.calls("basicAck"))
                    .hasSize(100)
                    .allMatch(arguments -> arguments.get(1).equals(false));
            assertThat(spy.calls("basicAck"))
                    .extracting(arguments -> arguments.get(0))
                    .doesNotHaveDuplicates();
            assertThat(spy.calls("basicNack")).isEmpty();
            assertThat(spy.calls("basicReject")).isEmpty();
            assertThat(spy.calls("basicRecover")).isEmpty();
        }
    }

    @Test
    @DisplayName("MQ-11 however many messages there are, only the prefetch is here")
    void prefetchIsBounded() throws Exception {
        try (Scene scene = new Scene()) {
            scene.bench.send(0, 500);
            RabbitInboxListener listener =
                    scene.listen(how -> how.prefetch(7).parallelism(3), scene.single(message -> go.await()));
            awaitPrefetch(listener, 1, 7);
            scene.bench.with(channel ->
                    assertThat(channel.messageCount(scene.bench.queue)).isEqualTo(493));
            go.countDown();
            scene.awaitEachOnce(500);
        }
    }

    @Test
    @DisplayName("a queued consumer: messages are acknowledged when they are stored, and handled by its workers")
    void queued() throws Exception {
        try (Scene scene = new Scene()) {
            var consumer = scene.consumer(message -> go.await())
                    .queued(QueuePolicy.inTransaction())
                    .build();
            scene.bench.send(0, 20);
            scene.inbox.start(consumer);
            RabbitInboxListener listener = scene.listen(how -> how, consumer);
            Scene.until("all are stored", () -> scene.bench.messages() == 0);
            assertThat(scene.effects()).isEmpty();
            assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
            go.countDown();
            scene.awaitEachOnce(20);
        }
    }

    private static void awaitPrefetch(RabbitInboxListener listener, long generation, int unsettled) throws Exception {
        Scene.until("generation " + generation + " has its deliveries", () -> {
            RabbitStatus status = listener.status();
            return status.generation() == generation && status.unsettled() == unsettled;
        });
    }
}
