package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a handler gives to others says who it is from, and nothing that was only said of its input. */
public class OutputIdentityTest {
    private static final Outbox MAIL = Outbox.named("mail").unordered();

    private static Consumer publishing(Consumer.Builder builder) {
        return builder.policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .publishesTo(MAIL)
                .otherwise((message, tx) -> {
                    tx.publish(
                            "mail",
                            Message.builder()
                                    .headers(message.headers())
                                    .payload(message.payload())
                                    .build());
                    return tx.outputId("receipt");
                })
                .build();
    }

    /** All that is waiting, in its order. */
    public static List<Message> published(Db db) {
        List<Message> seen = Collections.synchronizedList(new ArrayList<>());
        Consumer relay = MAIL.relay(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(20)))
                .otherwise((message, tx) -> {
                    seen.add(message);
                    return null;
                })
                .build();
        try (Inbox inbox = db.inbox(db.pool(4))) {
            inbox.start(relay);
            StepBench.until(() -> db.number("SELECT count(*) FROM idem_queue") == 0);
        }
        return List.copyOf(seen);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 a consumer that was renamed publishes the ids and the source it did before, if it keeps its scope")
    void renamed(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(4))) {
            inbox.accept(publishing(Consumer.named("payments")), Db.message("m1"));
            inbox.accept(publishing(Consumer.named("billing").scope("payments")), Db.message("m1"));
            inbox.accept(publishing(Consumer.named("billing")), Db.message("m2"));
            List<Message> published = published(db);
            assertThat(published).hasSize(3);
            assertThat(published.get(1).id()).isEqualTo(published.get(0).id());
            assertThat(published.get(1).source()).contains("payments");
            assertThat(published.get(2).id()).isNotEqualTo(published.get(0).id());
            assertThat(published.get(2).source()).contains("billing");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("headers that are copied from the input are passed on, but for those that only speak of the input")
    void copiedHeaders(Database database) {
        Message input = Db.message("m1").toBuilder()
                .header("trace", "t-1")
                .header("idem-causation-id", "grandmother")
                .header("idem-correlation-id", "family")
                .header("idem-replay-session", "july")
                .header("idem-reason", "FAILED")
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(4))) {
            inbox.accept(publishing(Consumer.named("payments")), input);
            assertThat(published(db)).singleElement().satisfies(output -> {
                assertThat(output.header("trace")).contains("t-1");
                assertThat(output.header("idem-causation-id")).contains("m1");
                assertThat(output.header("idem-correlation-id")).contains("family");
                assertThat(output.header("idem-replay-session")).isEmpty();
                assertThat(output.header("idem-reason")).isEmpty();
                assertThat(output.replaySession()).isEmpty();
            });
        }
    }
}
