package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.GIVEN;
import static dev.idem.jdbc.ReplayBench.paying;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy.Replay;
import dev.idem.Rejection;
import dev.idem.Settlement;
import dev.idem.broker.Attributes;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Sessions that a header names, where {@link Attributes#replaySessionFrom} lets it. */
class SessionHeaderTest {
    private static final Attributes.Broker BROKER = new Attributes.Broker("m1", null, null, null);
    private static final Attributes TRUSTING = Attributes.defaults().replaySessionFrom("x-session");

    private final ReplayBench bench = new ReplayBench(Database.H2);
    private final Consumer allowing = paying(Replay.ALLOWED).build();

    @BeforeEach
    void doneOnce() {
        bench.registered(allowing);
        bench.anna().start("again", "payments", GIVEN);
        assertThat(accepted(Attributes.defaults(), Message.builder())).isInstanceOf(Outcome.Processed.class);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private Outcome<?> accepted(Attributes attributes, Message.Builder raw) {
        return bench.inbox.accept(allowing, attributes.read(raw.build(), BROKER));
    }

    private static Message.Builder session(String name) {
        return Message.builder().header("x-session", name);
    }

    @Test
    @DisplayName("RP-03 a session that was asked for runs what is done once more, but only where the header was chosen")
    void chosen() {
        assertThat(accepted(Attributes.defaults(), session("again"))).isInstanceOf(Outcome.Duplicate.class);
        assertThat(bench.db.payments()).isEqualTo(1);
        assertThat(accepted(TRUSTING, session("again"))).isInstanceOf(Outcome.Processed.class);
        assertThat(accepted(TRUSTING, session("again"))).isInstanceOf(Outcome.Duplicate.class);
        assertThat(bench.db.payments()).isEqualTo(2);
    }

    @Test
    @DisplayName("RP-03 a name that nobody has asked for, or that cannot be one, runs nothing and tells little")
    void forged() {
        for (String name : List.of(
                "",
                " ",
                "forged",
                "Again",
                "again ",
                "again\n",
                "a/b",
                "../again",
                "\0",
                "-a",
                "a' OR '1'='1",
                "x".repeat(101),
                "x".repeat(100_000))) {
            Outcome<?> outcome = accepted(TRUSTING, session(name));
            assertThat(outcome).as(name).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
                assertThat(rejected.reason()).isEqualTo(Rejection.UNKNOWN_SESSION);
                assertThat(rejected.detail()).hasSizeLessThan(1_000).doesNotContain("\n", "\0");
                assertThat(rejected.settlement()).isEqualTo(Settlement.DEAD_LETTER);
            });
        }
        assertThat(bench.db.payments()).isEqualTo(1);
        assertThat(bench.db.markers()).isEqualTo(1);
    }

    @Test
    @DisplayName("RP-03 two sessions in one message, one that is no text, and our own header name none: a duplicate")
    void none() {
        List<Message.Builder> messages = List.of(
                session("again").header("x-session", "again"),
                Message.builder().header("x-session", new byte[] {(byte) 0xc3, 0x28}),
                Message.builder().header("idem-replay-session", "again".getBytes(StandardCharsets.UTF_8)));
        for (Message.Builder message : messages) {
            assertThat(accepted(TRUSTING, message)).isInstanceOf(Outcome.Duplicate.class);
        }
        assertThat(bench.db.payments()).isEqualTo(1);
    }
}
