package dev.idem.examples.balances;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.examples.support.Told;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class MainTest {
    private static final String[] STORY = {
        "Applied: [alice has 70, after +100 -30]",
        "Gap: 2 of alice wait for version 3",
        "Applied: [alice has 101, after +100 -30 +50 -20 +1]",
        "Gaps: 0",
        "Thrown away: 1 row",
        "Rebuilt: [alice has 101, after +100 -30 +50 -20 +1]"
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
