package dev.idem.examples.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.examples.support.Told;
import org.junit.jupiter.api.Test;

class MainTest {
    private static final String[] STORY = {
        "Delivery 1: Failed, the broker is told RETRY. Payments: 0",
        "Delivery 2: Processed, the broker is told ACK. Payments: 1",
        "Delivery 3: Duplicate, the broker is told ACK. Payments: 1"
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
