package dev.idem.jdbc.internal.retention;

import static dev.idem.jdbc.Days.OLD;
import static dev.idem.jdbc.Days.PAYMENTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.Days;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.Together;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Dropping partitions among other things that happen: deliveries, other sweeps, long transactions, crashes. */
@ExtendWith(SkipWithoutServer.class)
class PartitionDropTest {
    @Test
    @DisplayName("PG-30 RP-01 redeliveries, alone and in batches, while their partitions are dropped: nothing twice")
    void redeliveriesDuringADrop() throws Exception {
        int messages = 300;
        try (Days days = new Days();
                Inbox inbox = days.db.inbox(days.db.pool(6))) {
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < messages; i++) {
                ids.add(Days.v7(Duration.ofDays(9 + i % 10)));
            }
            List<Message> all = ids.stream().map(Days::message).toList();
            assertThat(inbox.acceptAll(Days.handler(), all)).allMatch(Outcome.Processed.class::isInstance);
            AtomicBoolean swept = new AtomicBoolean();
            List<Future<List<Outcome<?>>>> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                boolean alone = t % 2 == 0;
                Random random = new Random(t);
                threads.add(Together.start(() -> {
                    List<Outcome<?>> outcomes = new ArrayList<>();
                    while (!swept.get() || outcomes.size() < messages) {
                        int from = random.nextInt(messages - 20);
                        if (alone) {
                            outcomes.add(Days.pay(inbox, PAYMENTS, ids.get(from)));
                        } else {
                            outcomes.addAll(inbox.acceptAll(Days.handler(), all.subList(from, from + 20)));
                        }
                    }
                    return outcomes;
                }));
            }
            JdbcRetention.Partitions partitions = days.sweptPartitions();
            swept.set(true);
            for (Future<List<Outcome<?>>> thread : threads) {
                // Busy: a batch waits for a lock only a moment, and comes again.
                assertThat(Together.get(thread))
                        .allMatch(o -> o instanceof Outcome.Duplicate
                                || o instanceof Outcome.Undecidable
                                || o instanceof Outcome.Busy);
            }
            assertThat(partitions.dropped()).hasSizeGreaterThan(9);
            assertThat(days.db.payments()).isEqualTo(messages);
            assertThat(days.db.markers()).isZero();
            assertThat(inbox.acceptAll(Days.handler(), all)).allMatch(Outcome.Undecidable.class::isInstance);
        }
    }

    @Test
    @DisplayName("PG-30 a delivery that waits for the drop of its partition finds no place, and is undecidable")
    void aDeliveryThatWaitedForTheDrop() throws Exception {
        try (Days days = new Days();
                Inbox inbox = days.db.inbox(days.db.pool(2));
                Connection sweep = days.db.plain().getConnection()) {
            String old = Days.v7(OLD);
            Days.pay(inbox, PAYMENTS, old);
            days.sweep(); // takes all but what follows, and the limits
            Partition partition = days.oldest();
            String late = Days.v7(Instant.ofEpochMilli(partition.from()).plus(Duration.ofHours(12)));
            assertThat(Days.pay(inbox, PAYMENTS, late)).isInstanceOf(Outcome.Processed.class);
            sweep.setAutoCommit(false);
            sweep.createStatement().execute("UPDATE idem_retention SET horizon = " + (partition.to() * 1000 - 1));
            sweep.createStatement().execute("DROP TABLE " + partition.name());
            Future<Outcome<?>> waiting = Together.start(() -> Days.pay(inbox, PAYMENTS, late));
            Future<List<Outcome<?>>> batch =
                    Together.start(() -> inbox.acceptAll(Days.handler(), List.of(Days.message(old))));
            days.db.awaitBlocked(1);
            sweep.commit();
            assertThat(Together.get(waiting)).isInstanceOf(Outcome.Undecidable.class);
            // A batch waits only a moment, and then comes again.
            assertThat(Together.get(batch).get(0)).isInstanceOfAny(Outcome.Undecidable.class, Outcome.Busy.class);
            assertThat(inbox.acceptAll(Days.handler(), List.of(Days.message(old), Days.message(late))))
                    .allMatch(Outcome.Undecidable.class::isInstance);
            assertThat(days.db.payments(old)).isEqualTo(1);
            assertThat(days.db.payments(late)).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PG-37 a long transaction makes the drop give up soon; deliveries hardly notice, the next sweep drops")
    void aLongTransactionIsNotWaitedFor() throws Exception {
        try (Days days = new Days();
                Inbox inbox = days.db.inbox(days.db.pool(2));
                Connection idle = days.db.plain().getConnection()) {
            inbox.register(PAYMENTS);
            String old = Days.v7(OLD);
            days.pay(old);
            idle.setAutoCommit(false);
            idle.createStatement()
                    .executeQuery("SELECT count(*) FROM idem_marker")
                    .close();

            int before = days.partitions().size();
            Future<JdbcRetention.Partitions> sweep = Together.start(days::sweptPartitions);
            Future<List<Long>> deliveries = Together.start(() -> {
                List<Long> nanos = new ArrayList<>();
                while (!sweep.isDone()) {
                    long start = System.nanoTime();
                    assertThat(Days.pay(inbox, PAYMENTS, Days.v7(Duration.ZERO)))
                            .isInstanceOf(Outcome.Processed.class);
                    nanos.add(System.nanoTime() - start);
                }
                return nanos;
            });
            JdbcRetention.Partitions blocked = Together.get(sweep);
            assertThat(blocked.dropped()).isEmpty();
            assertThat(blocked.blocked()).hasSize(1);
            assertThat(days.partitions()).hasSize(before);
            assertThat(days.horizon()).as("nothing was removed").isZero();
            assertThat(Together.get(deliveries))
                    .hasSizeGreaterThan(50)
                    .allMatch(nanos -> nanos < Duration.ofMillis(1900).toNanos());

            idle.rollback();
            assertThat(days.sweptPartitions().dropped()).isNotEmpty();
            assertThat(days.pay(old)).isInstanceOf(Outcome.Undecidable.class);
        }
    }

    @Test
    @DisplayName(
            "RP-06 a partition stays while the longest window, a stopped consumer, or one without a window needs it")
    void whatKeepsAPartition() throws Exception {
        try (Days days = new Days()) {
            String old = Days.v7(OLD);
            days.pay(old);
            Consumer audit = Consumer.named("audit")
                    .key(KeySelector.messageId().timeOrdered())
                    .policy(Policy.defaults().withWindow(Duration.ofDays(12)))
                    .build();
            days.inbox.register(audit);
            assertThat(days.sweptPartitions().dropped()).as("a longer window").hasSize(Days.BACK - 13);
            assertThat(days.pay(old)).isInstanceOf(Outcome.Duplicate.class);

            days.db.execute(
                    "UPDATE idem_retention SET keep_for = NULL WHERE keep_for > " + Micros.of(Duration.ofDays(8)));
            assertThat(days.sweptPartitions().dropped()).as("for ever").isEmpty();

            days.db.execute("DELETE FROM idem_retention WHERE keep_for IS NULL");
            days.db.execute("UPDATE idem_retention SET seen_at = seen_at - " + Micros.of(Duration.ofDays(5)));
            assertThat(days.sweptPartitions().dropped()).as("stopped days ago").isEmpty();

            // as docs/operations.md says of a consumer that is gone for good
            days.db.execute("UPDATE idem_retention SET seen_at = 4102444800000000, swept_at = NULL");
            long number = days.db.number("SELECT number FROM idem_consumer WHERE name = 'audit'");
            days.db.execute("UPDATE idem_marker SET consumer = " + number);
            assertThat(days.sweptPartitions().dropped())
                    .as("markers without a window")
                    .hasSize(4);
            assertThat(days.db.markers()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("three sweeps at once drop each partition once, and the horizon is where they stopped")
    void sweepsAtOnce() throws Exception {
        try (Days days = new Days()) {
            String old = Days.v7(OLD);
            days.pay(old);
            List<String> dropped = new ArrayList<>();
            for (JdbcRetention.Partitions partitions : Together.run(3, i -> days.sweptPartitions())) {
                dropped.addAll(partitions.dropped());
            }
            assertThat(dropped).doesNotHaveDuplicates().hasSize(Days.BACK - 8);
            assertThat(days.horizon()).isEqualTo(days.oldest().from() * 1000 - 1);
            assertThat(days.pay(old)).isInstanceOf(Outcome.Undecidable.class);
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("RP-01 a sweep that dies at any call leaves the horizon exactly at the last partition that is gone")
    void aDropThatDiesAnywhere() throws Exception {
        try (Days days = new Days()) {
            Tables tables = days.db.tables();
            days.sweep(); // all but the one that comes back again and again
            List<Cutoffs.Cutoff> cutoffs;
            try (Connection connection = days.db.plain().getConnection()) {
                cutoffs = new Cutoffs(tables).take(connection, KnownConsumer.all(connection, tables), true);
            }
            comesBack(days, tables, days.oldest().from() - Partition.DAY);
            FaultyDataSource faulty = FaultyDataSource.around(days.db.plain());
            int fired = 0;
            boolean finished = false;
            for (int call = 1; !finished; call++) {
                Fault fault = call % 2 == 0 ? Fault.CONNECTION_LOST_BEFORE : Fault.CONNECTION_LOST_AFTER;
                faulty.reset();
                faulty.arm(call, fault);
                try {
                    new PartitionDrop(faulty, tables, cutoffs).run(false, dead -> false);
                } catch (Exception | Error dead) {
                    assertThat(faulty.fired()).as("died of %s", dead).isTrue();
                }
                finished = !faulty.fired();
                faulty.disarm();
                fired += finished ? 0 : 1;
                long oldest = days.oldest().from();
                assertThat(days.horizon())
                        .as("%s at call %d of %s", fault, call, faulty.trace())
                        .isEqualTo(oldest * 1000 - 1);
                if (oldest == Days.today() - 8 * Partition.DAY) {
                    comesBack(days, tables, oldest - Partition.DAY);
                }
            }
            assertThat(fired).isGreaterThan(20);
        }
    }

    private static void comesBack(Days days, Tables tables, long day) {
        Partition partition = Partition.ofDay(tables, day);
        days.db.execute(
                "CREATE TABLE " + partition.name() + " PARTITION OF idem_marker " + partition.bounds(),
                "UPDATE idem_retention SET horizon = " + (day * 1000 - 1));
    }

    @Test
    @DisplayName("PG-31 a day of many markers goes without a row being deleted: hardly anything is written to the WAL")
    void noRowIsDeleted() throws Exception {
        int markers = 50_000;
        try (Days days = new Days()) {
            days.pay(Days.v7(Duration.ZERO));
            Partition old = days.of(Instant.now().minus(OLD));
            days.db.execute(
                    "INSERT INTO idem_marker (consumer, message_key, claim_id) SELECT number, CAST(lpad(to_hex("
                            + old.from() + " + i), 12, '0') || '70008000000000000000' AS uuid), 1 FROM idem_consumer,"
                            + " generate_series(1, " + markers + ") AS i",
                    "VACUUM " + old.name()); // so that looking at them writes nothing
            String before = days.db.text("SELECT pg_current_wal_insert_lsn()");
            JdbcRetention.Report report = days.sweep();
            long written = days.db.number("SELECT pg_current_wal_insert_lsn() - CAST('" + before + "' AS pg_lsn)");
            assertThat(report.consumers().get(0).markers()).isEqualTo(markers);
            assertThat(written).isLessThan(markers * 40L); // deleting a row writes more than 50 bytes
            assertThat(days.db.markers()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("RP-06 a running unit holds its partition, however old, until it has committed")
    void aRunningUnitHoldsItsPartition() throws Exception {
        try (Days days = new Days();
                Inbox inbox = days.db.inbox(days.db.pool(1))) {
            inbox.register(PAYMENTS);
            String old = Days.v7(OLD);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<Outcome<Void>> unit = Together.start(() -> inbox.run(PAYMENTS, Days.message(old), tx -> {
                Db.pay(tx.connection(), old);
                running.countDown();
                Together.await(end);
            }));
            Together.await(running);
            assertThat(days.sweptWithoutRests().blocked()).hasSize(1);
            end.countDown();
            assertThat(Together.get(unit)).isInstanceOf(Outcome.Processed.class);
            assertThat(days.pay(old)).isInstanceOf(Outcome.Duplicate.class);
            assertThat(days.sweptPartitions().dropped()).isNotEmpty();
            assertThat(days.pay(old)).isInstanceOf(Outcome.Undecidable.class);
            assertThat(days.db.payments(old)).isEqualTo(1);
        }
    }
}
