package dev.idem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimesTest {
    @ParameterizedTest
    @CsvSource({
        "PT0S,0s",
        "PT-1S,0s",
        "PT0.12S,120ms",
        "PT4.5S,4s 500ms",
        "PT59.9S,59s",
        "PT7M12S,7m 12s",
        "PT1H,1h",
        "PT3H20M5S,3h 20m",
        "PT168H,7d",
        "PT77H,3d 5h"
    })
    void lengths(Duration length, String text) {
        assertThat(Times.of(length)).isEqualTo(text);
    }

    @Test
    void moments() {
        assertThat(Times.of(Instant.parse("2026-11-18T20:19:06.123456Z"))).isEqualTo("2026-11-18T20:19:06Z");
    }

    @Test
    void namesAreAnsweredWithThoseThatAreThere() {
        assertThat(Nearest.to("x", List.of())).isEmpty();
        assertThat(Nearest.to("ordres", List.of("orders", "mail"))).isEqualTo(" There are: mail, orders.");
        List<String> many = List.of(
                "notifications", "payment-service", "projections", "search-index", "shipments", "orders", "orders-2");
        assertThat(Nearest.to("ordres", many)).startsWith(" The nearest are: orders, orders-2, ");
        assertThat(Nearest.to("x", List.of("\u001b[2J"))).doesNotContain("\u001b");
    }
}
