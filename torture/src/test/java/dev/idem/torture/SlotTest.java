package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag("quick")
class SlotTest {
    private static final int LINES = 2_000;

    @Test
    void whatAWorkerSaidBeforeItWasKilledIsHeard() throws Exception {
        LinkedBlockingQueue<Slot.Said> said = new LinkedBlockingQueue<>();
        Process[] last = new Process[1];
        Slot slot = new Slot(0, 1, 0, () -> last[0] = talker(), said);
        slot.start();
        Process first = last[0];
        first.getErrorStream().read(); // it has said everything, and most of it is not read yet

        long now = System.nanoTime();
        slot.heard("at work", now);
        slot.act(true, now + 10_000_000_000L);

        assertThat(slot.kills()).isOne();
        assertThat(first.isAlive()).isFalse();
        last[0].destroyForcibly().waitFor();
        assertThat(said)
                .filteredOn(line -> line.line().startsWith(first.pid() + " "))
                .hasSize(LINES);
    }

    private static Process talker() throws IOException {
        String lines = "i=0; while [ $i -lt " + LINES + " ]; do echo $$ $i; i=$((i+1)); done";
        return new ProcessBuilder("sh", "-c", lines + "; echo said >&2; exec sleep 60").start();
    }
}
