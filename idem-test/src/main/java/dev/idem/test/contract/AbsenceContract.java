package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import dev.idem.spi.FaultHook;
import dev.idem.test.fault.Direction;
import dev.idem.test.fault.TcpFaultProxy;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The part of {@link BrokerContract} about a broker that is not there yet, and a database that hangs. */
abstract class AbsenceContract extends LetterContract {
    @Test
    @DisplayName(
            "a broker that is not there at the start is waited for by name, and since when; the listener starts when it comes")
    void absentAtTheStart() throws Exception {
        Inbox inbox = inbox(FaultHook.NONE);
        send(0, 5);
        requireBroker().kill();
        Listener listener;
        try {
            Instant begin = Instant.now();
            listener = listener(inbox, writer(message -> {}), MANY_BYTES);
            until("the listener waits", () -> listener.state() == ListenerState.WAITING);
            until("it says for what", () -> listener.waiting().isPresent());
            Waiting waiting = listener.waiting().orElseThrow();
            assertThat(waiting.what()).isNotBlank();
            assertThat(waiting.why()).isNotBlank();
            assertThat(waiting.since()).isBetween(begin, Instant.now());
            Instant later = Instant.now().plusSeconds(4); // some tries
            until("it has waited a while", () -> Instant.now().isAfter(later));
            assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
            assertThat(listener.waiting())
                    .hasValueSatisfying(still -> assertThat(still.since())
                            .as("since it was first missed")
                            .isBetween(begin, later.minusSeconds(3)));
            assertThat(listener.failure()).isEmpty();
        } finally {
            requireBroker().restart();
        }
        awaitEffects(5);
        send(5, 10);
        awaitEffects(10);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(listener.waiting()).isEmpty();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName(
            "KF-18 a database that hangs, with all connections open: nothing is settled, and all is done when it goes on")
    void frozenConnections() throws Exception {
        try (TcpFaultProxy proxy = TcpFaultProxy.to(databasePort())) {
            Inbox inbox = Inbox.create(store(through(proxy)));
            inboxes.add(inbox);
            Listener listener = listener(inbox, writer(message -> {}), MANY_BYTES);
            send(0, 5);
            awaitEffects(5);
            awaitSettled();
            stall(proxy);
            send(5, 40);
            until("the listener waits", () -> listener.state() == ListenerState.WAITING);
            assertThat(listener.waiting()).map(Waiting::what).contains("the store");
            assertThat(effects()).hasSize(5);
            assertThat(requireBroker().unsettled()).isEqualTo(35);
            proxy.heal();
            awaitEffects(40);
            awaitSettled();
            until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
            assertThat(letters()).isEmpty();
            assertEachOnceInOrder();
            listener.close();
            inbox.close();
        }
    }

    private static void stall(TcpFaultProxy proxy) {
        for (Direction direction : Direction.values()) {
            proxy.stall(direction);
        }
    }
}
