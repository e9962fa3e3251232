package dev.idem.jdbc.internal.marker;

import static dev.idem.jdbc.Days.OLD;
import static dev.idem.jdbc.Days.PAYMENTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.ResultCodec;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.Days;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Markers in partitions by the time in their keys: what goes where, and what has no place. */
@ExtendWith(SkipWithoutServer.class)
class PartitionTest {
    /** Behind the last partition that is made ahead, and not further than clocks differ. */
    private static final Duration NEXT_WEEK = Duration.ofHours(8 * 24 + 12);

    @Test
    @DisplayName("PG-29 messages from both sides of midnight, each delivered eight times at once, are done once each")
    void uniqueOverMidnight() throws Exception {
        try (Days days = new Days();
                var inbox = days.db.inbox(days.db.pool(8))) {
            Instant midnight = Instant.ofEpochMilli(Days.today());
            for (int i = 0; i < 20; i++) {
                List<String> ids = List.of(Days.v7(midnight.minusMillis(1)), Days.v7(midnight));
                List<Outcome<?>> outcomes = Together.run(8, n -> Days.pay(inbox, PAYMENTS, ids.get(n % 2)));
                assertThat(outcomes)
                        .filteredOn(Outcome.Processed.class::isInstance)
                        .hasSize(2);
                assertThat(outcomes)
                        .filteredOn(Outcome.Duplicate.class::isInstance)
                        .hasSize(6);
                for (String id : ids) {
                    assertThat(days.db.payments(id)).isEqualTo(1);
                }
            }
            assertThat(days.db.number("SELECT count(*) FROM "
                            + days.of(midnight.minusMillis(1)).name()))
                    .isEqualTo(20);
            assertThat(days.db.number(
                            "SELECT count(*) FROM " + days.of(midnight).name()))
                    .isEqualTo(20);
        }
    }

    @Test
    @DisplayName("PG-29 a ULID with its source, and any id with its event time, are in the partition of their time")
    void everyKindOfKeyIsInItsPlace() throws Exception {
        Consumer events = Consumer.named("events")
                .key(KeySelector.cloudEvent().timeOrdered())
                .build();
        Consumer orders = Consumer.named("orders")
                .key(KeySelector.business(m -> List.of(m.id().orElseThrow(), "capture"))
                        .withEventTime())
                .build();
        Instant made = Instant.ofEpochMilli(Days.today()).minus(Duration.ofDays(3));
        Message event = Message.builder().id(ulid(made)).source("shop").build();
        Message order = Message.builder().id("order-1").eventTime(made).build();
        try (Days days = new Days()) {
            for (int i = 0; i < 2; i++) {
                Class<?> expected = i == 0 ? Outcome.Processed.class : Outcome.Duplicate.class;
                assertThat(days.inbox.run(events, event, tx -> Db.pay(tx.connection(), "event")))
                        .isInstanceOf(expected);
                assertThat(days.inbox.run(orders, order, tx -> Db.pay(tx.connection(), "order")))
                        .isInstanceOf(expected);
            }
            assertThat(days.inbox.run(
                            orders,
                            order.toBuilder().eventTime(made.plusMillis(1)).build(),
                            Transaction::nothingToDo))
                    .as("another event time is another message")
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(days.db.number("SELECT count(*) FROM " + days.of(made).name()))
                    .isEqualTo(3);
            assertThat(days.inbox.run(orders, Message.builder().id("2").build(), Transaction::nothingToDo))
                    .isInstanceOfSatisfying(
                            Outcome.Rejected.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.KEY_MISSING));
        }
    }

    private static String ulid(Instant made) {
        String digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        StringBuilder text = new StringBuilder();
        for (int shift = 45; shift >= 0; shift -= 5) {
            text.append(digits.charAt((int) (made.toEpochMilli() >>> shift & 31)));
        }
        return text + "0123456789ABCDEF";
    }

    @Test
    @DisplayName("PG-29 a UUIDv4 at a consumer of time-ordered ids is rejected with the reason, and not lost silently")
    void anIdWithoutATimeIsRejected() throws Exception {
        try (Days days = new Days()) {
            Outcome<?> outcome = days.pay(UUID.randomUUID().toString());
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
                assertThat(rejected.reason()).isEqualTo(Rejection.KEY_NOT_TIME_ORDERED);
                assertThat(rejected.detail()).contains("neither a UUIDv7").contains("nor a ULID");
            });
            assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
            assertThat(days.db.payments()).isZero();
        }
    }

    @Test
    @DisplayName("PG-29 a consumer whose keys need have no time is refused, at registration and at its first message")
    void otherConsumersAreRefused() throws Exception {
        Consumer plain = Consumer.named("plain").otherwise((m, tx) -> null).build();
        try (Days days = new Days()) {
            assertThatThrownBy(() -> days.inbox.register(plain))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("KeySelector.messageId().timeOrdered()")
                    .hasMessageContaining("withEventTime()");
            for (Outcome<?> outcome : List.of(
                    days.inbox.accept(plain, Days.message(Days.v7(Duration.ZERO))),
                    days.inbox
                            .acceptAll(plain, List.of(Days.message(Days.v7(Duration.ZERO))))
                            .get(0))) {
                assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
            }
            days.inbox.register(Consumer.named("marks").watermark().build()); // which has no markers
            Consumer tenants = Consumer.named("tenants")
                    .key(KeySelector.messageId().timeOrdered().perTenant(m -> m.source()))
                    .build();
            days.inbox.register(tenants);
        }
    }

    @Test
    @DisplayName("RP-01 after a drop an older message is undecidable by the policy, alone, joined and in a batch")
    void whatWasDroppedIsUndecidable() throws Exception {
        try (Days days = new Days();
                var outer = days.db.plain().getConnection()) {
            String old = Days.v7(OLD);
            assertThat(days.pay(old)).isInstanceOf(Outcome.Processed.class);
            assertThat(days.pay(old)).isInstanceOf(Outcome.Duplicate.class);
            JdbcRetention.Report report = days.sweep();
            assertThat(report.consumers().get(0).markers()).isEqualTo(1);
            assertThat(report.partitions().orElseThrow().dropped())
                    .contains(Partition.ofDay(
                                    days.db.tables(),
                                    Partition.dayOf(Instant.now().minus(OLD).toEpochMilli()))
                            .label());
            Instant kept = Instant.ofEpochMilli(days.oldest().from());
            assertThat(kept).isEqualTo(Instant.ofEpochMilli(Days.today()).minus(Duration.ofDays(8)));
            assertThat(days.horizon()).isEqualTo(Micros.of(Duration.between(Instant.EPOCH, kept)) - 1);

            assertThat(days.pay(old)).isEqualTo(new Outcome.Undecidable<>(kept));
            assertThat(days.inbox.acceptAll(Days.handler(), List.of(Days.message(old))))
                    .containsExactly(new Outcome.Undecidable<>(kept));
            outer.setAutoCommit(false);
            assertThat(days.inbox
                            .within(outer)
                            .process(PAYMENTS, Days.message(old), tx -> "never")
                            .outcome())
                    .isEqualTo(new Outcome.Undecidable<>(kept));
            outer.commit();
            for (Policy.Undecidable choice : List.of(Policy.Undecidable.REJECT, Policy.Undecidable.PROCESS)) {
                Consumer other = Days.payments(Policy.defaults().withUndecidable(choice));
                assertThat(Days.pay(days.inbox, other, old))
                        .isInstanceOfSatisfying(
                                Outcome.Rejected.class,
                                rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.UNDECIDABLE));
            }
            assertThat(days.db.payments(old)).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("RP-01 the horizon tells even when a person makes a dropped partition again")
    void aPartitionThatComesBack() throws Exception {
        try (Days days = new Days()) {
            String old = Days.v7(OLD);
            Partition partition = days.of(Instant.now().minus(OLD));
            days.pay(old);
            days.sweep();
            days.db.execute("CREATE TABLE again PARTITION OF idem_marker " + partition.bounds());
            try (var inbox = days.db.inbox(days.db.plain())) {
                assertThat(Days.pay(inbox, PAYMENTS, old)).isInstanceOf(Outcome.Undecidable.class);
            }
            assertThat(days.db.payments(old)).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PG-29 an id of a time that has no partition yet comes again, and is processed when it has one")
    void anIdOfTheFutureComesAgain() throws Exception {
        try (Days days = new Days()) {
            String future = Days.v7(NEXT_WEEK.negated());
            assertThatThrownBy(() -> days.pay(future))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("no partition for that")
                    .hasMessageContaining("idem retention run");
            assertThat(days.inbox.accept(Days.handler(), Days.message(future)))
                    .isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                        assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE);
                        assertThat(failed.settlement()).isEqualTo(Settlement.RETRY);
                    });
            assertThat(days.db.payments()).isZero();
            Tables tables = days.db.tables();
            Partition made = Partition.ofDay(
                    tables, Partition.dayOf(Instant.now().plus(NEXT_WEEK).toEpochMilli()));
            days.db.execute("CREATE TABLE " + made.name() + " PARTITION OF idem_marker " + made.bounds());
            // a store believes for a second what it saw
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(StoreException.class)
                    .until(() -> days.pay(future) instanceof Outcome.Processed);
            assertThat(days.pay(future)).isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @Test
    @DisplayName("PG-29 an id of a time that no wrong clock explains is rejected, and holds up nothing")
    void anIdOfTheFarFutureIsRejected() throws Exception {
        try (Days days = new Days()) {
            Message far = Days.message(Days.v7(Duration.ofDays(-30)));
            Message last = Days.message("ffffffff-ffff-7fff-bfff-ffffffffffff");
            Message now = Days.message(Days.v7(Duration.ZERO));
            for (Message message : List.of(far, last)) {
                assertRejected(days.inbox.accept(Days.handler(), message));
            }
            List<Outcome<?>> outcomes = days.inbox.acceptAll(Days.handler(), List.of(far, now, last));
            assertRejected(outcomes.get(0));
            assertThat(outcomes.get(1)).isInstanceOf(Outcome.Processed.class);
            assertRejected(outcomes.get(2));
            assertThat(days.db.payments()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName(
            "PG-29 nine days ahead is the limit: before it a message waits for its partition, behind it it is rejected")
    void theLimitOfTheFuture() throws Exception {
        Duration limit = Duration.ofDays(Partition.DAYS_AHEAD + 2);
        try (Days days = new Days()) {
            Instant end = Instant.ofEpochMilli(
                    days.partitions().get(days.partitions().size() - 1).to());
            assertThat(end).isEqualTo(Instant.ofEpochMilli(Days.today()).plus(Duration.ofDays(8)));
            assertThat(days.pay(Days.v7(end.minusMillis(1)))).isInstanceOf(Outcome.Processed.class);
            for (Instant waiting : List.of(end, Instant.now().plus(limit).minus(Duration.ofMinutes(2)))) {
                assertThat(days.inbox.accept(Days.handler(), Days.message(Days.v7(waiting))))
                        .isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                            assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE);
                            assertThat(failed.settlement()).isEqualTo(Settlement.RETRY);
                            assertThat(failed.cause()).hasMessageContaining("the last one ends at " + end);
                        });
            }
            Instant beyond = Instant.now().plus(limit).plus(Duration.ofMinutes(2));
            assertRejected(days.inbox.accept(Days.handler(), Days.message(Days.v7(beyond))));
            assertThat(days.db.payments()).isEqualTo(1);
        }
    }

    private static void assertRejected(Outcome<?> outcome) {
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
            assertThat(rejected.reason()).isEqualTo(Rejection.KEY_FROM_THE_FUTURE);
            assertThat(rejected.settlement()).isEqualTo(Settlement.DEAD_LETTER);
        });
    }

    @Test
    @DisplayName("PG-29 a batch over many partitions is one transaction, and what has no place harms nobody in it")
    void aBatchOverManyPartitions() throws Exception {
        try (Days days = new Days()) {
            String gone = Days.v7(Duration.ofDays(9));
            days.pay(gone);
            days.sweep();
            List<Message> batch = new ArrayList<>();
            for (int day = 7; day >= -7; day--) {
                batch.add(Days.message(Days.v7(Duration.ofDays(day).plusMinutes(1))));
            }
            batch.add(3, Days.message(gone));
            batch.add(6, Days.message(Days.v7(NEXT_WEEK.negated())));
            batch.add(9, Days.message(UUID.randomUUID().toString()));
            batch.add(batch.get(0));
            List<Outcome<?>> outcomes = days.inbox.acceptAll(Days.handler(), batch);
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Undecidable.class);
            assertThat(outcomes.get(6)).isInstanceOf(Outcome.Failed.class);
            assertThat(outcomes.get(6).settlement()).isEqualTo(Settlement.RETRY);
            assertThat(outcomes.get(9)).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcomes.get(18)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(outcomes).filteredOn(Outcome.Processed.class::isInstance).hasSize(15);
            assertThat(days.db.number("SELECT count(DISTINCT claim_id) FROM idem_marker"))
                    .isEqualTo(1);
            assertThat(days.inbox.acceptAll(Days.handler(), batch))
                    .filteredOn(Outcome.Duplicate.class::isInstance)
                    .hasSize(16);
            assertThat(days.db.payments()).isEqualTo(16);
            // only those that no partition takes
            assertThat(days.inbox.acceptAll(Days.handler(), List.of(batch.get(3), batch.get(6))))
                    .extracting(outcome -> outcome.getClass().getSimpleName())
                    .containsExactly("Undecidable", "Failed");
        }
    }

    @Test
    @DisplayName("PG-29 what is let through without a key of its own has a place as well")
    void unguardedMessagesHaveAPlace() throws Exception {
        try (Days days = new Days()) {
            Consumer unguarded = Days.payments(Policy.defaults().withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED));
            assertThat(Days.pay(days.inbox, unguarded, UUID.randomUUID().toString()))
                    .isInstanceOf(Outcome.Processed.class);
            String old = Days.v7(OLD);
            days.pay(old);
            days.sweep();
            assertThat(Days.pay(days.inbox, Days.payments(Policy.defaults().withObserveOnly()), old))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(days.inbox.observations().get("payments").undecidable()).isEqualTo(1);
            assertThat(Days.pay(
                            days.inbox,
                            Days.payments(Policy.defaults().withObserveOnly()),
                            Days.v7(Duration.ofDays(-30))))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @Test
    @DisplayName("results have their own window also where markers are in partitions")
    void resultsHaveTheirOwnWindow() throws Exception {
        try (Days days = new Days()) {
            Message message = Days.message(Days.v7(Duration.ZERO));
            days.inbox.process(PAYMENTS, message, ResultCodec.text(), tx -> {
                tx.nothingToDo();
                return "receipt";
            });
            assertThat(storedResult(days, message)).contains("receipt");
            days.db.execute("UPDATE idem_result SET stored_at = clock_timestamp() - interval '25 h'");
            assertThat(days.sweep().consumers().get(0).results()).isEqualTo(1);
            assertThat(storedResult(days, message)).isEmpty();
        }
    }

    private static Optional<String> storedResult(Days days, Message message) {
        Outcome<String> again = days.inbox.process(PAYMENTS, message, ResultCodec.text(), tx -> "again");
        return ((Outcome.Duplicate<String>) again).storedResult();
    }
}
