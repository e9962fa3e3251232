package dev.idem.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.broker.ListenerState;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.time.Duration;
import org.apache.activemq.artemis.jms.client.ActiveMQJMSConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a listener says about itself, and how it is paused, restarted and closed. */
class JmsLifeTest extends JmsScene {
    private ConnectionFactory stranger(Way way) {
        return way == Way.CORE_TRANSACTED
                ? new ActiveMQJMSConnectionFactory(artemis.coreUrl(), ArtemisMain.STRANGER, "secret")
                : new JmsConnectionFactory(ArtemisMain.STRANGER, "secret", artemis.amqpUrl());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("wrong credentials: WAITING with the broker's words; when the user is known, it goes on by itself")
    void wrongCredentials(Way way) throws Exception {
        artemis.admit(false);
        send(text("m1", "k"));
        listen(stranger(way), consumer(id -> {}), options -> options.acknowledging(way.acknowledging()));
        until(() -> listener.state() == ListenerState.WAITING);
        assertThat(why()).contains("allowed to consume from " + queue).doesNotContain("secret");
        artemis.admit(true);
        until(() -> handled.contains("m1") && listener.state() == ListenerState.RUNNING);
        assertThat(listener.failure()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("an absent queue: WAITING with the broker's words")
    void absentQueue(Way way) {
        String absent = ArtemisMain.CLOSED + queue;
        listener = JmsInbox.builder(way.factory(artemis), absent, consumer(id -> {}), inbox)
                .acknowledging(way.acknowledging())
                .listen();
        until(() -> listener.state() == ListenerState.WAITING);
        assertThat(listener.waiting().orElseThrow().what()).isEqualTo("queue " + absent);
        assertThat(listener.waiting().orElseThrow().why())
                .contains("InvalidDestination")
                .containsAnyOf(absent, "exist");
    }

    @Test
    @DisplayName("an absent queue for letters: the message waits, the others go on, and it is said why")
    void absentLetters() throws Exception {
        send(text("m1", "a"), text("bad", "b"), text("m2", "c"));
        listen(
                Way.CORE_TRANSACTED,
                consumer(id -> {
                    if (id.equals("bad")) {
                        throw new dev.idem.TerminalException("bad", null);
                    }
                }),
                options -> options.deadLetters(ArtemisMain.CLOSED + queue));
        until(() -> handled.size() == 2 && why().contains(ArtemisMain.CLOSED + queue));
        assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
        assertThat(listener.pending()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("a paused listener holds nothing that others could have; resumed or restarted it goes on")
    void paused(Way way) throws Exception {
        send(text("m1", "k"));
        listen(way, consumer(id -> {}), options -> options);
        until(() -> handled.contains("m1") && listener.pending() == 0);
        listener.pause();
        assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
        until(() -> artemis.consumers(queue) == 0);
        send(text("m2", "k"));
        try (Connection rival = artemis.core().createConnection();
                Session session = rival.createSession(Session.SESSION_TRANSACTED);
                MessageConsumer reading = session.createConsumer(session.createQueue(queue))) {
            rival.start();
            assertThat(reading.receive(LONG.toMillis())).isNotNull();
            session.rollback();
        }
        listener.restart();
        assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
        listener.resume();
        until(() -> handled.contains("m2") && artemis.messages(queue) == 0);
        assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
    }

    @Test
    @DisplayName("a handler may close its listener: its message is settled, and the listener ends by itself")
    void closedByAHandler() throws Exception {
        send(text("m1", "k"));
        listen(Way.CORE_TRANSACTED, consumer(id -> listener.close(Duration.ofSeconds(30))), options -> options);
        until(() -> listener.state() == ListenerState.CLOSED);
        assertThat(handled).containsExactly("m1");
        assertThat(artemis.messages(queue)).isZero();
        assertThatThrownBy(listener::restart).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void badConfigurationIsThrown() {
        JmsInbox.Builder options = JmsInbox.builder(artemis.core(), queue, consumer(id -> {}), inbox);
        assertThatThrownBy(() -> options.deadLetters(queue).listen()).hasMessageContaining("same queue");
        assertThatThrownBy(() -> options.deadLetters(" ")).hasMessageContaining("empty");
        assertThatThrownBy(() -> options.parallelism(0)).hasMessageContaining("parallelism");
    }
}
