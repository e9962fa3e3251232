package dev.idem.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.examples.support.Told;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class MainTest {
    private static final String[] STORY = {
        "Delivery 1: Stored, the broker is told ACK",
        "Delivery 2: Duplicate, the broker is told ACK",
        "Step: a pen is reserved",
        "Call 1: the provider cannot be reached",
        "Call 2: charged, but the answer is lost",
        "Call 3: known by its key, and not charged again",
        "Step: the confirmation is written",
        "Pens left: [9]",
        "Charges: 1",
        "Published: [order-confirmed, receipt for order-1]"
    };

    @Test
    void tellsItsStoryOnH2() throws Exception {
        assertThat(Told.byMain(Main::main)).containsExactly(STORY);
    }

    @Test
    void tellsTheSameStoryOnPostgreSql() throws Exception {
        assertThat(Told.by(out -> Main.tell(Told.postgres(), out))).containsExactly(STORY);
    }
}
