package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Message;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PublisherTest {
    private static final Plan PLAN = Plan.inline(42, 1_000, true, 2, false);

    private final FakeBroker broker = new FakeBroker();

    @Test
    void publishesEachLaneInItsOrderUpToItsShare() throws Exception {
        try (var publisher = new Publisher(PLAN, broker, Defect.NONE)) {
            publisher.publish(0.5);
            until(() -> broker.published.get(0).size() >= PLAN.lanes().get(0).size() / 2
                    && broker.published.get(1).size() >= PLAN.lanes().get(1).size() / 2);
            assertThat(publisher.isDone()).isFalse();

            publisher.publish(1);
            until(publisher::isDone);

            assertThat(broker.published).isEqualTo(PLAN.lanes());
            assertThat(publisher.confirmed()).hasSize(1_000);
        }
    }

    @Test
    void whatTheBrokerDidNotConfirmIsNotAcceptedAndItsFailureIsHeard() throws Exception {
        broker.fails = true;
        try (var publisher = new Publisher(PLAN, broker, Defect.NONE)) {
            publisher.publish(1);

            until(() -> {
                try {
                    publisher.publish(1);
                    return false;
                } catch (IOException heard) {
                    return true;
                }
            });
            assertThatThrownBy(() -> publisher.publish(1)).hasMessage("planted");
            assertThat(publisher.confirmed()).isEmpty();
        }
    }

    private static void until(Callable<Boolean> condition) throws Exception {
        while (!condition.call()) {
            Thread.sleep(5);
        }
    }

    private static final class FakeBroker implements BrokerServer {
        final List<List<Item>> published = List.of(
                Collections.synchronizedList(new ArrayList<>()), Collections.synchronizedList(new ArrayList<>()));
        volatile boolean fails;

        @Override
        public void publish(int lane, List<Message> messages) throws IOException {
            if (fails) {
                throw new IOException("planted");
            }
            messages.forEach(message -> published.get(lane).add(Item.of(message)));
        }

        @Override
        public String address() {
            return "nowhere:0";
        }

        @Override
        public int lanes() {
            return published.size();
        }

        @Override
        public long unfinished() {
            return 0;
        }

        @Override
        public void killHard() {}

        @Override
        public void restart() {}

        @Override
        public void close() {}
    }
}
