package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.TerminalException;
import dev.idem.Work;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Consumers that handle before they acknowledge, and keep in the inbox what they cannot do. */
class DoorParkingTest {
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private final Consumer consumer = Consumer.named("payments")
            .parking(QueuePolicy.inTransaction())
            .otherwise((message, tx) -> {
                if (broken.get()) {
                    throw new TerminalException("not now", null);
                }
                Db.pay(tx.connection(), message.id().orElseThrow());
                return null;
            })
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-01 what was parked at the door is a duplicate from then on, and done once when a person retries it")
    void parkedAndRetried(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            Message message = message("a1");
            assertThat(bench.inbox.accept(consumer, message)).isInstanceOf(Outcome.Failed.class);
            Exception cause = new IllegalStateException("no such account");
            assertThat(bench.inbox.park(consumer, message, "FAILED", cause)).isInstanceOf(Outcome.Stored.class);
            assertThat(bench.inbox.park(consumer, message, "FAILED", cause)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.inbox.accept(consumer, message)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(1);

            bench.inbox.start(consumer);
            broken.set(false);
            InboxFilter parked = InboxFilter.all().withConsumer("payments");
            assertThat(bench.inbox.queueStats("payments").parked()).isEqualTo(1);
            assertThat(bench.anna().retryAll(parked, sum -> {}).changed()).isEqualTo(1);
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.payments() == 1);
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(bench.inbox.accept(consumer, message)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.db.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void handlesBeforeItAcknowledges(Database database) {
        broken.set(false);
        try (InboxBench bench = new InboxBench(database)) {
            assertThat(bench.inbox.accept(consumer, message("a1"))).isInstanceOf(Outcome.Processed.class);
            Message changed = message("a1").toBuilder()
                    .payload("other".getBytes(StandardCharsets.UTF_8))
                    .build();
            assertThat(bench.inbox.park(consumer, changed, "FAILED", null))
                    .as("the key belongs to another payload")
                    .isInstanceOf(Outcome.Conflict.class);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 nothing is parked inside a handler, nor beside a transaction that may yet roll back")
    void isRefusedInsideATransaction(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = db.store(db.pool(4));
                Inbox inbox = Inbox.create(store);
                Connection foreign = db.plain().getConnection()) {
            inbox.register(consumer);
            inbox.register(Consumer.of("other"));
            try (Connection open = store.dataSource().getConnection()) {
                open.setAutoCommit(false);
                assertThatThrownBy(() -> inbox.park(consumer, message("a1"), "FAILED", null))
                        .isInstanceOf(NestedProcessingException.class)
                        .hasMessageContainingAll("park a message of payments", "a transaction of store.dataSource()");
            }
            Work.Action<SQLException> parking = tx -> {
                Db.pay(tx.connection(), "b");
                assertThatThrownBy(() -> inbox.park(consumer, message("a1"), "FAILED", null))
                        .isInstanceOf(NestedProcessingException.class);
            };
            assertThat(inbox.run("other", message("b1"), parking)).isInstanceOf(Outcome.Processed.class);
            foreign.setAutoCommit(false);
            inbox.within(foreign).run("other", message("b2"), parking).confirm();
            foreign.rollback();
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isZero();
            assertThat(db.markers()).as("of the message that ran").isEqualTo(1);
            assertThat(inbox.park(consumer, message("a1"), "FAILED", null)).isInstanceOf(Outcome.Stored.class);
        }
    }

    @Test
    void whatCannotBeTogetherIsRefused() {
        QueuePolicy policy = QueuePolicy.inTransaction();
        Consumer.Builder queued = Consumer.named("payments").queued(policy);
        assertThatThrownBy(() -> queued.parking(policy)).hasMessageContaining("choose one");
        Consumer.Builder ordered = Consumer.named("payments").parking(policy.withOrderByKey());
        assertThatThrownBy(ordered::build).hasMessageContaining("leave the order out");
        Consumer.Builder versioned = Consumer.named("payments")
                .parking(policy)
                .sequence(Sequence.by(Message::orderingKey, Sequence.header("version")));
        assertThatThrownBy(versioned::build).hasMessageContaining("could not go on");
        try (InboxBench bench = new InboxBench(Database.H2)) {
            Consumer inline = Consumer.of("payments");
            assertThatThrownBy(() -> bench.inbox.park(inline, message("a1"), "FAILED", null))
                    .hasMessageContaining("build it with parking");
        }
    }

    private static Message message(String id) {
        return Message.of(id, id.getBytes(StandardCharsets.UTF_8));
    }
}
