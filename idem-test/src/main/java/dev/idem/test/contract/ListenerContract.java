package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.idem.Inbox;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.spi.FaultHook;
import dev.idem.test.contract.BrokerUnderTest.Sent;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The part of {@link BrokerContract} about a listener's states, its start and end, and what it keeps in memory. */
abstract class ListenerContract extends AbsenceContract {
    private static final long BUDGET = 8 * 1024 * 1024;

    @Test
    @DisplayName("a destination that does not exist is waited for, and the listener says so")
    void misspeltDestination() throws Exception {
        assumeFalse(requireBroker().makesDestinations(), "this broker makes whatever somebody listens to");
        Listener listener = misspelt(inbox(FaultHook.NONE), writer(message -> {}));
        until("the listener waits", () -> listener.state() == ListenerState.WAITING);
        until("it says for what", () -> listener.waiting().isPresent());
        Waiting waiting = listener.waiting().orElseThrow();
        assertThat(waiting.what()).isNotBlank();
        assertThat(waiting.why()).isNotBlank();
        assertThat(listener.failure()).isEmpty();
    }

    @Test
    @DisplayName("a store that is frozen and says nothing: the listener says so, and goes on when it answers")
    void frozenStore() throws Exception {
        AtomicBoolean frozen = new AtomicBoolean();
        Inbox inbox = Inbox.create(store(freezing(requireDatabase(), frozen)));
        inboxes.add(inbox);
        inbox.register(writer(message -> {}));
        Listener listener = listener(inbox, writer(message -> {}), MANY_BYTES);
        send(0, 5);
        awaitEffects(5);
        frozen.set(true);
        try {
            send(5, 10);
            until("the listener waits", () -> listener.state() == ListenerState.WAITING);
            assertThat(listener.waiting()).map(Waiting::what).contains("the store");
        } finally {
            frozen.set(false);
        }
        awaitEffects(10);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("a listener that is paused takes nothing until it is resumed")
    void pauseAndResume() throws Exception {
        Listener listener = listener(inbox(FaultHook.NONE), writer(message -> {}), MANY_BYTES);
        send(0, 10);
        awaitEffects(10);
        awaitSettled();
        listener.pause();
        listener.pause();
        until("it is paused", () -> listener.state() == ListenerState.PAUSED);
        Thread.sleep(1_000); // what it had asked for may still come
        send(10, 30);
        Thread.sleep(1_500);
        assertThat(effects()).hasSize(10);
        assertThat(requireBroker().unsettled()).isEqualTo(20);
        listener.resume();
        awaitEffects(30);
        awaitSettled();
        until("it runs", () -> listener.state() == ListenerState.RUNNING);
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("a listener that runs can be restarted, and loses and repeats nothing")
    void restartWhileRunning() throws Exception {
        Listener listener = listener(inbox(FaultHook.NONE), writer(message -> Thread.sleep(5)), MANY_BYTES);
        send(0, 60);
        awaitEffects(5);
        listener.restart();
        awaitEffects(60);
        awaitSettled();
        until("it runs", () -> listener.state() == ListenerState.RUNNING);
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("a listener that has failed says why, and can be restarted")
    void restartAfterAFailure() throws Exception {
        AtomicBoolean dying = new AtomicBoolean(true);
        Listener listener = listener(dying(inbox(FaultHook.NONE), dying), writer(message -> {}), MANY_BYTES);
        send(0, 20);
        until("it has failed", () -> listener.state() == ListenerState.FAILED);
        assertThat(listener.failure()).isPresent();
        assertThat(effects()).isEmpty();
        dying.set(false);
        listener.restart();
        awaitEffects(20);
        awaitSettled();
        assertThat(listener.failure()).isEmpty();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("a listener that has failed and is closed is closed, and leaves its messages to the next")
    void closingAfterAFailure() throws Exception {
        Listener listener =
                listener(dying(inbox(FaultHook.NONE), new AtomicBoolean(true)), writer(message -> {}), MANY_BYTES);
        send(0, 10);
        until("it has failed", () -> listener.state() == ListenerState.FAILED);
        listener.close();
        assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        assertThat(listener.failure()).isEmpty();
        assertThat(listener.waiting()).isEmpty();
        assertThat(requireBroker().unsettled()).isEqualTo(10);
        listener(inbox(FaultHook.NONE), writer(message -> {}), MANY_BYTES);
        awaitEffects(10);
        awaitSettled();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("one thread of a listener keeps the process alive, and ends with it")
    void oneThreadKeepsTheProcess() throws Exception {
        Inbox inbox = inbox(FaultHook.NONE);
        send(0, 1);
        Set<Thread> before = keepers();
        Listener listener = listener(inbox, writer(message -> {}), MANY_BYTES);
        awaitEffects(1);
        awaitSettled();
        Set<Thread> now = keepers();
        now.removeAll(before);
        assertThat(now).hasSize(1);
        listener.close();
        until("it has ended", () -> now.stream().noneMatch(Thread::isAlive));
    }

    private static Set<Thread> keepers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.isDaemon())
                .collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    @DisplayName("60 MB of messages and a budget of 8 MB: no more than about that is kept, and all is done")
    void bytesAreBounded() throws Exception {
        CountDownLatch mayGoOn = new CountDownLatch(1);
        String payload = "x".repeat(900_000);
        Listener listener = listener(inbox(FaultHook.NONE), writer(message -> mayGoOn.await()), BUDGET);
        for (int i = 0; i < 67; i++) {
            requireBroker().send(new Sent("m" + i, "key", payload, List.of()));
        }
        until("it has something", () -> listener.pendingBytes() > BUDGET / 4);
        long most = 0;
        for (int i = 0; i < 100; i++) {
            most = Math.max(most, listener.pendingBytes());
            Thread.sleep(10);
        }
        mayGoOn.countDown();
        while (effects().size() < 67) {
            most = Math.max(most, listener.pendingBytes());
            awaitEffects(effects().size() + 1);
        }
        assertThat(most).isLessThanOrEqualTo(2 * BUDGET);
        awaitSettled();
        assertEachOnceInOrder();
    }
}
