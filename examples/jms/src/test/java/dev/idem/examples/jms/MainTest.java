package dev.idem.examples.jms;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class MainTest {
    @Test
    void tellsItsStory() throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            Main.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        "Sent: [order-1, order-2, order-1, broken, order-3, order-1]",
                        "Billed: [order-1, order-2, order-3]",
                        "Dead letters: [broken, FAILED]");
    }
}
