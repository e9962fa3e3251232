package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.jdbc.admin.JdbcConsumers;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import dev.idem.servers.PostgresServer;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What would break or weaken the promise is found at start, each with what to do about it. */
class StartCheckTest {
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "POSTGRESQL | primary key | ALTER TABLE idem_marker DROP CONSTRAINT idem_marker_pk, ADD PRIMARY KEY (consumer, message_key) DEFERRABLE",
                "POSTGRESQL | primary key | ALTER TABLE idem_marker DROP CONSTRAINT idem_marker_pk",
                "POSTGRESQL | unlogged    | ALTER TABLE idem_marker SET UNLOGGED",
                "MARIADB    | engine      | ALTER TABLE idem_marker ENGINE = MyISAM",
                "MARIADB    | collation   | ALTER TABLE idem_marker MODIFY message_key VARCHAR(255) COLLATE utf8mb4_general_ci",
                "MARIADB    | collation   | ALTER TABLE idem_consumer MODIFY name VARCHAR(100) COLLATE utf8mb4_general_ci NOT NULL",
                "MARIADB    | primary key | ALTER TABLE idem_marker DROP PRIMARY KEY",
                "H2         | primary key | ALTER TABLE idem_marker DROP PRIMARY KEY",
            })
    @DisplayName("PG-08 PG-38 MY-08 MY-12 tables that cannot keep the promise are refused, with what to do")
    void unfitTablesAreRefused(Database database, String check, String change) {
        try (Db db = Db.fresh(database)) {
            db.store();
            db.execute(change);
            assertThatThrownBy(() -> JdbcStore.create(db.plain()))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("ERROR " + check + ": ");
            assertThat(JdbcSchema.of(db.plain()).validate())
                    .allSatisfy(finding -> assertThat(finding.action()).isNotBlank())
                    .anyMatch(finding -> finding.severity() == Finding.Severity.ERROR);
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "POSTGRESQL | durability | options=-c%20synchronous_commit=off",
                "MARIADB    | isolation  | sessionVariables=tx_isolation='REPEATABLE-READ'",
            })
    @Tag("second-pass")
    @DisplayName("PG-38 a weak setting of the session is a warning, and refused when strict")
    void aWeakSessionIsAWarning(Database database, String check, String option) {
        try (Db db = Db.fresh(database);
                CapturedLog log = CapturedLog.of(JdbcStore.class)) {
            db.store();
            DataSource weak = Db.plain(db.url(option));
            assertThat(JdbcStore.create(weak)).isNotNull();
            assertThat(log.warnings()).anyMatch(line -> line.startsWith("WARNING " + check + ": "));
            assertThatThrownBy(() -> JdbcStore.builder(weak).strict(true).build())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("WARNING " + check + ": ");
        }
    }

    @Test
    @DisplayName("PG-38 a server with fsync off is a warning, and refused when strict")
    void fsyncOffIsAWarning() {
        try (PostgresServer server = PostgresServer.start(Map.of("fsync", "off"));
                Db db = Db.at(Database.POSTGRESQL, server.jdbcUrl("postgres"))) {
            db.store();
            assertThat(JdbcSchema.of(db.plain()).validate()).singleElement().satisfies(finding -> {
                assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
                assertThat(finding.toString()).contains("fsync=off").contains("Switch it on");
            });
            assertThatThrownBy(() -> JdbcStore.builder(db.plain()).strict(true).build())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("fsync=off");
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("PC-22 a trigger, a rule or a row policy on the marker table is a warning")
    void whatCanHideMarkersIsAWarning() {
        for (String sql : List.of(
                "ALTER TABLE idem_marker ENABLE ROW LEVEL SECURITY",
                "CREATE RULE nothing AS ON INSERT TO idem_marker DO INSTEAD NOTHING")) {
            try (Db db = Db.fresh(Database.POSTGRESQL)) {
                db.store();
                db.execute(sql);
                assertThat(JdbcSchema.of(db.plain()).validate())
                        .extracting(Finding::check)
                        .contains("trigger or policy");
            }
        }
    }

    @Test
    @DisplayName("PC-23 two search paths that give two inboxes are told at start, and one schema for both helps")
    void twoSearchPathsAreTold() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.execute("CREATE SCHEMA one", "CREATE SCHEMA two");
            DataSource one = Db.plain(db.url("currentSchema=one,public"));
            DataSource two = Db.plain(db.url("currentSchema=two,public"));
            db.store(one);
            db.store(two);
            assertThat(JdbcSchema.of(two).validate())
                    .anySatisfy(finding -> assertThat(finding.toString())
                            .startsWith("WARNING second inbox")
                            .contains("(one)")
                            .contains("set the schema explicitly"));
            assertThatThrownBy(() -> JdbcStore.builder(two).strict(true).build())
                    .isInstanceOf(StoreException.class);
            try (Inbox first = Inbox.create(JdbcStore.builder(one).schema("one").build());
                    Inbox second =
                            Inbox.create(JdbcStore.builder(two).schema("one").build())) {
                assertThat(first.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(second.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                        .isInstanceOf(Outcome.Duplicate.class);
            }
        }
    }

    @Test
    @DisplayName("PC-23 a handler that changes the search path does not move the inbox")
    void aChangedSearchPathDoesNotMoveTheInbox() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.execute("CREATE SCHEMA other");
            db.store(Db.plain(db.url("currentSchema=other")));
            try (Inbox inbox = db.inbox(db.pool(1))) {
                inbox.run("payments", Db.message("1"), tx -> {
                    Db.pay(tx.connection(), "1");
                    tx.connection().createStatement().execute("SET search_path = other, public");
                });
                assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                        .isInstanceOf(Outcome.Duplicate.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @Tag("second-pass")
    @DisplayName("SE-08 a role that may only read and write rows runs everything")
    void aRoleForRowsAloneIsEnough(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.store();
            String role = db.role("SELECT, INSERT, UPDATE, DELETE");
            DataSource source = Db.plain(db.urlOf(role));
            assertThatThrownBy(() -> source.getConnection().createStatement().execute("CREATE TABLE x (a INT)"))
                    .isInstanceOf(java.sql.SQLException.class);
            try (Inbox inbox = Inbox.create(
                    JdbcStore.builder(source).schemaMode(SchemaMode.VALIDATE).build())) {
                StorePath.check(db, inbox);
            }
            assertThat(JdbcConsumers.of(JdbcSchema.of(source)).rename("payments", "billing"))
                    .isTrue();
        }
    }

    @Test
    @DisplayName("SE-08 missing rights are found at start, with the grant")
    void missingRightsAreFound() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.store();
            String role = db.role("SELECT");
            assertThatThrownBy(() -> JdbcStore.create(Db.plain(db.urlOf(role))))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("ERROR privileges")
                    .hasMessageContaining("INSERT, DELETE")
                    .hasMessageContaining("Let their owner run: GRANT SELECT, UPDATE ON \"public\".idem_meta")
                    .hasMessageContaining(" TO " + role);
        }
    }

    @Test
    @DisplayName("SE-08 who may not read the tables is told of the rights, and not to create what is there")
    void tablesThatMayNotBeRead() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.store();
            String role = db.role("INSERT");
            assertThatThrownBy(() -> JdbcStore.create(Db.plain(db.urlOf(role))))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("The role " + role + " may not read the tables")
                    .hasMessageContaining(
                            "GRANT SELECT, UPDATE ON \"public\".idem_meta, \"public\".idem_replay TO " + role)
                    .hasMessageNotContaining("schema apply");
        }
    }
}
