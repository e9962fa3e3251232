package dev.idem.broker.spi;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.idem.Logged;
import dev.idem.StoreException;
import dev.idem.spi.UnplacedException;
import java.sql.SQLException;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a listener says about what it waits for. */
class PaceTest {
    private final Pace store = Pace.ofStore("billing");

    private String why() {
        return store.waiting().orElseThrow().why();
    }

    @Test
    @DisplayName("the first failure says since when, and the first answer ends it")
    void since() {
        assertThat(store.waiting()).isEmpty();
        store.failed(new StoreException("away", null));
        Instant since = store.waiting().orElseThrow().since();
        store.failed(new IllegalStateException());
        assertThat(store.waiting().orElseThrow().since()).isEqualTo(since);
        assertThat(store.left()).isPositive();
        store.succeeded();
        assertThat(store.waiting()).isEmpty();
        assertThat(store.left()).isZero();
    }

    @Test
    @DisplayName("texts of a database or of a handler are not quoted; that a key has no place yet is, in one line")
    void quotes() {
        store.failed(new StoreException("secret", new SQLException("secret", "08001")));
        assertThat(why()).isEqualTo(StoreException.class.getName() + " (SQLState 08001)");
        store.failed(new StoreException("secret", null));
        assertThat(why()).isEqualTo(StoreException.class.getName());
        store.failed(new UnplacedException("billing/m1 has\nno place yet"));
        assertThat(why()).isEqualTo("billing/m1 has no place yet");
    }

    @Test
    @DisplayName("what is waited for is logged once, also when several keys have no place")
    void loggedOnce() {
        try (Logged logged = new Logged()) {
            store.failed(new UnplacedException("billing/m1"));
            store.failed(new UnplacedException("billing/m2"));
            assertThat(logged.lines(Level.WARN))
                    .containsExactly("billing: waits for the store and tries again: billing/m1");
            assertThat(why()).isEqualTo("billing/m2");
            store.failed(new IllegalStateException());
            assertThat(logged.lines(Level.WARN)).hasSize(2);
        }
    }
}
