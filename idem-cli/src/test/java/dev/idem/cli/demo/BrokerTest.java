package dev.idem.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Settlement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("quick")
class BrokerTest {
    private static final Payment PAYMENT = new Payment("id-1", "order-1", 100);

    @Test
    void keepsAMessageUntilItIsAcknowledged() {
        Broker broker = broker(false);
        Delivery first = broker.deliver(CrashWindow.NONE);
        assertThat(broker.canDeliver()).isFalse();

        broker.takeBack();

        assertThat(broker.isDone()).isFalse();
        Delivery second = broker.deliver(CrashWindow.NONE);
        assertThat(second.payment()).isEqualTo(first.payment());
        assertThat(second.tag()).isNotEqualTo(first.tag());
        broker.settle(new Answer.Settled(second.tag(), Settlement.ACK, false));
        assertThat(broker.isDone()).isTrue();
        assertThat(broker.result(0, 0)).isEqualTo(new LaneResult(2, 1, 0, 0, 0, 0));
    }

    @Test
    void deliversAgainAfterRetryAndAfterALostAcknowledgement() {
        Broker broker = broker(true);

        broker.settle(new Answer.Settled(broker.deliver(CrashWindow.NONE).tag(), Settlement.ACK, false));
        assertThat(broker.isDone()).isFalse();
        broker.settle(new Answer.Settled(broker.deliver(CrashWindow.NONE).tag(), Settlement.RETRY, false));
        assertThat(broker.isDone()).isFalse();
        broker.settle(new Answer.Settled(broker.deliver(CrashWindow.NONE).tag(), Settlement.ACK, true));
        assertThat(broker.isDone()).isTrue();
    }

    @Test
    void linesSayWhatTheyCarry() {
        var delivery = new Delivery(7, CrashWindow.BEFORE_ACK, 3, Trouble.FAILS_FIRST, PAYMENT);
        assertThat(Delivery.parse(delivery.line())).isEqualTo(delivery);
        assertThat(Delivery.of(delivery.toMessage())).isEqualTo(delivery);
        for (Answer answer : List.of(
                new Answer.Ready(),
                new Answer.Reached(7),
                new Answer.Failed(7),
                new Answer.Settled(7, Settlement.DEAD_LETTER, true))) {
            assertThat(Answer.parse(answer.line())).isEqualTo(Optional.of(answer));
        }
    }

    @Test
    void placeIsFoundAgainByItsLine() {
        var place = new Place(DemoBroker.Kind.RABBITMQ, "127.0.0.1:5672", "idem", 12);
        assertThat(Place.parse(place.line())).isEqualTo(place);
    }

    @Test
    void realBrokerGetsAllPublicationsInTheOrderOfThePlan() {
        DemoPlan plan = DemoPlan.of(1, 300, 30, 0);

        List<Delivery> deliveries = DemoBroker.deliveries(plan);

        assertThat(deliveries).hasSameSizeAs(plan.publications());
        assertThat(deliveries)
                .extracting(d -> plan.publications().get((int) d.tag() - 1).position())
                .isSorted();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "S", "SETTLED", "SETTLED 1", "SETTLED 12 AC", "SETTLED 12 ACK ", "SETTLED 12 ACK ne"})
    void lineCutOffByAKillIsNoAnswer(String line) {
        assertThat(Answer.parse(line)).isEmpty();
    }

    private static Broker broker(boolean ackLost) {
        var publication = new Publication(0, PAYMENT, 0, 0, 1, ackLost, Trouble.NONE);
        return new Broker(new DemoPlan(List.of(PAYMENT), List.of(publication), List.of()));
    }
}
