package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A relay makes the effects of a publication once: of each publication, and however often it is published again. */
class RelayedEffectsTest {
    private static final Outbox MAILS = Outbox.named("mails").unordered();
    private static final ReplaySpec STORED = ReplaySpec.of("stored");

    private static Consumer publishing(String name, String... ids) {
        return Consumer.named(name)
                .policy(Policy.defaults()
                        .withReplay(Policy.Replay.ALLOWED)
                        .withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .publishesTo(MAILS)
                .otherwise((message, tx) -> {
                    for (String id : ids) {
                        tx.publish(
                                "mails",
                                Message.builder()
                                        .id(id)
                                        .payload(message.payload())
                                        .build());
                    }
                    return null;
                })
                .build();
    }

    private static Consumer sending(List<String> keys) {
        return MAILS.relay(QueuePolicy.leased(StepBench.LEASE)
                        .withPoll(Duration.ofMillis(20))
                        .withPayloadWindow(Duration.ofDays(1)))
                .policy(Policy.defaults()
                        .withReplay(Policy.Replay.ALLOWED)
                        .withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .otherwiseSteps((mail, steps) -> steps.effect("send", ResultCodec.text(), key -> {
                    keys.add(key.value());
                    return "sent";
                }))
                .build();
    }

    private static ReplayOperator anna(StepBench bench) {
        return JdbcReplays.of(JdbcSchema.of(bench.db.plain())).as("anna", "again");
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 publications with the same id are each sent: of two publishers, of two inputs, twice for one")
    void sameId(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> keys = Collections.synchronizedList(new ArrayList<>());
            try (Inbox inbox = Inbox.create(bench.quick(bench.db.pool(4)))) {
                Consumer payments = publishing("payments", "order-7", "order-7");
                inbox.accept(payments, Db.message("m1"));
                inbox.accept(payments, Db.message("m2"));
                inbox.accept(publishing("shipping", "order-7"), Db.message("m1"));
                bench.runThrough(sending(keys));
                assertThat(keys).hasSize(5).doesNotHaveDuplicates();
                anna(bench).start("july", "payments", STORED);
                inbox.accept(
                        payments,
                        Db.message("m1").toBuilder().replaySession("july").build());
                assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isEqualTo(2);
                bench.runThrough(sending(keys));
            }
            assertThat(keys).as("published again").hasSize(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-03 a session over what a relay has kept finds its effects in the ledger")
    void storedByTheRelay(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> keys = Collections.synchronizedList(new ArrayList<>());
            Consumer sending = sending(keys);
            try (Inbox inbox = Inbox.create(bench.quick(bench.db.pool(6)))) {
                inbox.accept(publishing("payments", "order-7", "order-7"), Db.message("m1"));
                inbox.start(sending);
                StepBench.until(bench::isQuiet);
                anna(bench).start("july", "outbox:mails", STORED);
                try (Replayer replayer = Replayer.builder(inbox)
                        .consumer(sending)
                        .source(JdbcReplays.stored(JdbcSchema.of(bench.db.plain())))
                        .poll(Duration.ofMillis(50))
                        .start()) {
                    StepBench.until(() ->
                            bench.db.number("SELECT count(*) FROM idem_replay WHERE status = 'DONE' AND processed = 2")
                                    == 1);
                    StepBench.until(bench::isQuiet);
                }
            }
            assertThat(keys).hasSize(2);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("erasing a publication also erases what its effects have answered")
    void erased(Database database) {
        try (StepBench bench = new StepBench(database)) {
            List<String> keys = Collections.synchronizedList(new ArrayList<>());
            try (Inbox inbox = Inbox.create(bench.quick(bench.db.pool(4)))) {
                inbox.accept(publishing("payments", "order-7"), Db.message("m1"));
                bench.runThrough(sending(keys));
            }
            JdbcInbox people = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            people.as("anna", "she asked for it").erase("outbox:mails", "order-7");
            assertThat(bench.db.number("SELECT count(*) FROM idem_step WHERE codec = 'text'"))
                    .isZero();
        }
    }
}
