package dev.idem.jdbc;

import static dev.idem.jdbc.Days.PAYMENTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.retention.PartitionKeeper;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Partitions are created ahead of time, and set-ups that could not keep the promise are refused. */
@ExtendWith(SkipWithoutServer.class)
class PartitionSetupTest {
    private static final String DML = "SELECT, INSERT, UPDATE, DELETE";

    @Test
    @DisplayName("PG-29 a new table has partitions from the days before to seven days ahead, whole days without a gap")
    void partitionsAreCreatedAhead() throws Exception {
        try (Days days = new Days()) {
            List<Partition> partitions = days.partitions();
            assertThat(partitions).hasSize(Days.BACK + 1 + 7).allMatch(Partition::hasWholeDays);
            for (int i = 1; i < partitions.size(); i++) {
                assertThat(partitions.get(i).from())
                        .isEqualTo(partitions.get(i - 1).to());
            }
            assertThat(days.of(Instant.now()).from()).isEqualTo(Days.today());
            assertThat(JdbcSchema.of(days.db.plain()).validate()).isEmpty();
            assertThat(days.db.text("SELECT array_to_string(reloptions, ',') FROM pg_class WHERE relname = '"
                            + days.of(Instant.now()).label() + "_pkey'"))
                    .as("is filled as in the plain table")
                    .contains("fillfactor=95");
        }
    }

    @Test
    @DisplayName(
            "PG-29 a sweep, and a store at its start, create what has become missing, with no gap after a downtime")
    void missingPartitionsAreCreated() throws Exception {
        try (Days days = new Days()) {
            int all = days.partitions().size();
            withoutTheLast(days, 5);
            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(days.db.plain()));
            assertThat(retention
                            .dryRun(List.of(), p -> {})
                            .partitions()
                            .orElseThrow()
                            .created())
                    .hasSize(5);
            assertThat(days.partitions()).hasSize(all - 5);
            assertThat(days.sweptPartitions().created()).hasSize(5);

            withoutTheLast(days, 12); // as after a downtime of five days
            try (JdbcStore store = JdbcStore.create(days.db.plain())) {
                assertThat(store.describe()).contains("partitions");
            }
            assertThat(JdbcSchema.of(days.db.plain()).validate()).isEmpty();
            assertThat(days.of(Instant.now().minus(Duration.ofDays(3)))).isNotNull();
        }
    }

    @Test
    @DisplayName("PG-29 the elected sweeper of a store creates partitions")
    void theSweeperCreates() throws Exception {
        try (Days days = new Days();
                Inbox inbox = Inbox.create(JdbcStore.builder(days.db.plain())
                        .sweepEvery(Duration.ofMillis(100))
                        .build())) {
            withoutTheLast(days, 5);
            inbox.register(PAYMENTS);
            long end = Days.today() + 8 * Partition.DAY;
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> days.partitions().stream().anyMatch(partition -> partition.to() == end));
        }
    }

    @Test
    @DisplayName("PG-37 eight create at once, while messages flow and a unit runs that nobody waits for")
    void manyCreateAtOnce() throws Exception {
        try (Days days = new Days();
                Inbox inbox = days.db.inbox(days.db.pool(2))) {
            withoutTheLast(days, 7);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Future<Outcome<Void>> unit =
                    Together.start(() -> inbox.run(PAYMENTS, Days.message(Days.v7(Duration.ZERO)), tx -> {
                        Db.pay(tx.connection(), "long");
                        running.countDown();
                        Together.await(end);
                    }));
            Together.await(running);
            Tables tables = days.db.tables();
            List<String> created = new ArrayList<>();
            Together.run(8, i -> new PartitionKeeper(days.db.plain(), tables).createAhead(false))
                    .forEach(created::addAll);
            assertThat(unit.isDone()).isFalse();
            assertThat(created).hasSize(7).doesNotHaveDuplicates();
            assertThat(days.pay(Days.v7(Duration.ofDays(-7)))).isInstanceOf(Outcome.Processed.class);
            end.countDown();
            assertThat(Together.get(unit)).isInstanceOf(Outcome.Processed.class);
        }
    }

    @Test
    @DisplayName("RP-01 creation never brings a dropped partition back")
    void aDroppedPartitionIsNotCreatedAgain() throws Exception {
        try (Days days = new Days()) {
            String old = Days.v7(Days.OLD);
            days.pay(old);
            days.sweep();
            long oldest = days.oldest().from();
            assertThat(days.sweptPartitions().created()).isEmpty();
            JdbcSchema.of(days.db.plain()).applyPartitioned(Days.BACK);
            assertThat(days.oldest().from()).isEqualTo(oldest);
            withoutTheLast(days, days.partitions().size());
            JdbcSchema.of(days.db.plain()).apply();
            assertThat(days.oldest().from())
                    .as("a table with a past begins today")
                    .isEqualTo(Days.today());
        }
    }

    @Test
    @DisplayName("SE-08 a role for rows alone processes and sweeps, leaves partitions alone, and is warned in time")
    void aRoleForRowsAlone() throws Exception {
        try (Days days = new Days();
                CapturedLog log = CapturedLog.of(JdbcStore.class)) {
            var source = Db.plain(days.db.urlOf(days.db.role(DML)));
            days.db.execute("GRANT SELECT, INSERT ON payment TO PUBLIC");
            int all = days.partitions().size();
            try (Inbox inbox = Inbox.create(JdbcStore.create(source))) {
                String id = Days.v7(Days.OLD);
                assertThat(Days.pay(inbox, PAYMENTS, id)).isInstanceOf(Outcome.Processed.class);
                assertThat(Days.pay(inbox, PAYMENTS, id)).isInstanceOf(Outcome.Duplicate.class);
                assertThat(inbox.acceptAll(Days.handler(), List.of(Days.message(id))))
                        .singleElement()
                        .isInstanceOf(Outcome.Duplicate.class);
            }
            assertThat(log.warnings()).isEmpty();
            assertThat(JdbcRetention.of(JdbcSchema.of(source))
                            .run(List.of(), p -> {})
                            .partitions()
                            .orElseThrow())
                    .isEqualTo(new JdbcRetention.Partitions(false, List.of(), List.of(), List.of()));
            assertThat(days.partitions()).hasSize(all);

            withoutTheLast(days, 6);
            JdbcStore.create(source).close();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING partitions ahead: ")
                    .contains("idem retention run");
            assertThatThrownBy(() -> JdbcStore.builder(source).strict(true).build())
                    .isInstanceOf(StoreException.class);

            withoutTheLast(days, 2);
            assertThatThrownBy(() -> JdbcStore.create(source))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("ERROR partition of today: ")
                    .hasMessageContaining("Run 'idem retention run' with the owner of the tables, at least daily");
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "default partition | CREATE TABLE rest PARTITION OF idem_marker DEFAULT",
                "partition bounds  | CREATE TABLE odd PARTITION OF idem_marker FOR VALUES FROM (MINVALUE) TO ('00000000-0001-0000-0000-000000000000')",
                "partition bounds  | CREATE TABLE odd PARTITION OF idem_marker FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000526-5c01-0000-0000-000000000000')",
                "partition bounds  | CREATE TABLE odd PARTITION OF idem_marker FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000526-5c00-0000-0000-000000000001')",
                "partition kind    | CREATE UNLOGGED TABLE odd PARTITION OF idem_marker FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000526-5c00-0000-0000-000000000000')",
                "partition kind    | CREATE TABLE odd PARTITION OF idem_marker FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000526-5c00-0000-0000-000000000000') PARTITION BY HASH (message_key)",
                "partition index   | CREATE TABLE odd PARTITION OF idem_marker FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000526-5c00-0000-0000-000000000000'); CREATE UNIQUE INDEX ON odd (readable)",
            })
    @DisplayName("PG-29 unsafe partitions are refused at start, with what to do")
    void unsafePartitionsAreRefused(String check, String change) {
        try (Days days = new Days()) {
            days.db.execute(change);
            assertThatThrownBy(() -> JdbcStore.create(days.db.plain()))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("ERROR " + check + ": ");
            assertThat(JdbcSchema.of(days.db.plain()).validate())
                    .allSatisfy(finding -> assertThat(finding.action()).isNotBlank());
        }
    }

    @Test
    @DisplayName("PG-29 markers that are partitioned by something else are refused")
    void anotherPartitionKeyIsRefused() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.execute(JdbcSchema.partitionedScript(null, "idem_")
                    .replace("PARTITION BY RANGE (message_key)", "PARTITION BY LIST (consumer)"));
            assertThat(JdbcSchema.of(db.plain()).validate())
                    .anySatisfy(finding -> assertThat(finding.toString())
                            .startsWith("ERROR partition key: ")
                            .contains("LIST (consumer)"));
        }
    }

    @Test
    @DisplayName("partitions are refused on another database, and where a plain table is there already")
    void onlyNewTablesOnPostgres() throws Exception {
        try (Db h2 = Db.fresh(Database.H2);
                Db plain = Db.fresh(Database.POSTGRESQL)) {
            assertThatThrownBy(() -> JdbcSchema.of(h2.plain()).applyPartitioned(7))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("PostgreSQL only, and this is H2");
            plain.store();
            JdbcSchema schema = JdbcSchema.of(plain.plain());
            assertThatThrownBy(() -> schema.applyPartitioned(7))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("docs/operations.md");
            assertThat(schema.partitioned()).isFalse();
            try (Inbox inbox = plain.inbox()) {
                assertThat(Days.pay(inbox, PAYMENTS, Days.v7(Duration.ofDays(-300))))
                        .as("a plain table takes any time")
                        .isInstanceOf(Outcome.Processed.class);
            }
        }
    }

    private static void withoutTheLast(Days days, int count) throws Exception {
        List<Partition> partitions = days.partitions();
        for (Partition partition : partitions.subList(partitions.size() - count, partitions.size())) {
            days.db.execute("DROP TABLE " + partition.name());
        }
    }
}
