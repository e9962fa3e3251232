package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.ListenerState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** A message that must wait holds up as little as possible. */
class JmsStuckTest extends JmsScene {
    private static final List<String> POISON = List.of("m5", "m25", "m45");

    private final Map<String, Integer> runs = new ConcurrentHashMap<>();

    private void listenWithPoison(Way way, String letters) throws Exception {
        send(texts(IntStream.range(0, 60).mapToObj(i -> "m" + i)));
        listen(
                way,
                consumer(id -> {
                    runs.merge(id, 1, Integer::sum);
                    if (POISON.contains(id)) {
                        throw new TerminalException("poison", null);
                    }
                }),
                options -> options.deadLetters(letters).batch(10));
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName(
            "dead letters that are refused: handlers run once, the others are settled, and the letters follow later")
    void lettersRefused(Way way) throws Exception {
        String letters = ArtemisMain.REFUSING + queue;
        artemis.fill(letters);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger("dev.idem");
        log.start();
        logger.addAppender(log);
        try {
            listenWithPoison(way, letters);
            until(() -> handled.size() == 57);
            boolean each = way.acknowledging() == Acknowledging.INDIVIDUAL;
            until(() -> artemis.messages(queue) == (each ? 3 : 30));
            until(() -> why().contains("letters") && listener.state() == ListenerState.WAITING);
            artemis.empty(letters);
            until(() -> letters(letters).size() == 3 && artemis.messages(queue) == 0);
        } finally {
            logger.detachAppender(log);
        }
        until(() -> listener.state() == ListenerState.RUNNING && listener.pending() == 0);
        assertThat(runs.values()).hasSize(60).containsOnly(1);
        assertThat(List.copyOf(log.list))
                .filteredOn(line -> line.getLevel().isGreaterOrEqual(Level.INFO))
                .as("lines of log")
                .hasSizeLessThan(10);
    }

    @Test
    @DisplayName("a place of letters that is full and lets producers wait: the others go on, and it is said why")
    void lettersBlocked() throws Exception {
        String letters = ArtemisMain.BLOCKING + queue;
        send(artemis.core(), letters, session -> session.createTextMessage("x".repeat(30_000)));
        listenWithPoison(Way.CORE_TRANSACTED, letters);
        until(() -> handled.size() == 57);
        until(() -> why().contains("may be full") && listener.state() == ListenerState.WAITING);
        empty(letters);
        until(() -> letters(letters).size() == 3 && artemis.messages(queue) == 0);
        assertThat(runs.values()).hasSize(60).containsOnly(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("with keepOrder a key that fails waits in order, and all other keys go on in later batches")
    void keepingOrder(Way way) throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        send(text("a1", "a"), text("a2", "a"));
        send(texts(IntStream.range(0, 60).mapToObj(i -> "m" + i)));
        send(text("a3", "a"));
        listen(
                way,
                consumer(id -> {
                    if (id.equals("a1") && broken.get()) {
                        throw new IllegalStateException("not yet");
                    }
                }),
                options -> options.keepOrder().batch(10).retry(often()));
        until(() -> handled.size() == 60);
        assertThat(handled).noneMatch(id -> id.startsWith("a"));
        broken.set(false);
        until(() -> artemis.messages(queue) == 0);
        assertThat(handled).hasSize(63).endsWith("a1", "a2", "a3");
    }

    @Test
    @DisplayName("when every session holds a message that waits, nothing more is received, and it is said why")
    void outOfSessions() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        send(texts(IntStream.range(0, 100).mapToObj(i -> i % 10 == 3 ? "bad" + i : "m" + i)));
        listen(
                Way.CORE_TRANSACTED,
                consumer(id -> {
                    if (id.startsWith("bad") && broken.get()) {
                        throw new IllegalStateException("not yet");
                    }
                }),
                options -> options.keepOrder().batch(10).retry(often()));
        until(() -> why().contains("all 8 sessions") && listener.state() == ListenerState.WAITING);
        assertThat(handled).hasSize(72);
        assertThat(listener.pending()).isEqualTo(80);
        broken.set(false);
        until(() -> artemis.messages(queue) == 0);
        assertThat(handled).hasSize(100).doesNotHaveDuplicates();
        until(() -> listener.state() == ListenerState.RUNNING);
    }

    private static RetryPolicy often() {
        return RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(100_000);
    }

    @Test
    @DisplayName(
            "a message that must come again does not hold up the commit of its batch: its copy waits at the broker")
    void postponed() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        send(texts(Stream.of("bad", "m1", "m2")));
        listen(
                Way.CORE_TRANSACTED,
                consumer(id -> {
                    if (id.equals("bad") && broken.get()) {
                        throw new IllegalStateException("not yet");
                    }
                }),
                options ->
                        options.retry(RetryPolicy.fixed(Duration.ofMillis(500)).withMaxAttempts(1_000)));
        until(() -> listener.settled() >= 3 && artemis.messages(queue) == 1);
        assertThat(handled).containsExactly("m1", "m2");
        broken.set(false);
        until(() -> artemis.messages(queue) == 0);
        assertThat(handled).containsExactly("m1", "m2", "bad");
    }
}
