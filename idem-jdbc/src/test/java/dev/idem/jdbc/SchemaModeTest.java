package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens to the tables at start. */
class SchemaModeTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("CREATE makes the tables on every database, and a second time changes nothing")
    void create(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            String inbox = null;
            for (int i = 0; i < 3; i++) {
                Inbox.create(db.store()).run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1"));
                String now = db.text("SELECT inbox_id FROM idem_meta");
                assertThat(now).isEqualTo(inbox == null ? now : inbox);
                inbox = now;
            }
            assertThat(db.payments()).isEqualTo(1);
            assertThat(JdbcSchema.of(db.plain()).validate())
                    .allMatch(finding -> finding.severity() == Finding.Severity.WARNING);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("CREATE is safe when eight instances start at once")
    void createIsSafeWhenManyStartAtOnce(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Together.run(8, i -> {
                Inbox.create(db.store()).run("consumer-" + i % 2, Db.message("1"), tx -> Db.pay(tx.connection(), "1"));
                return null;
            });
            assertThat(db.number("SELECT count(*) FROM idem_meta")).isEqualTo(1);
            assertThat(db.number("SELECT count(*) FROM idem_consumer")).isEqualTo(2);
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("CREATE_IF_EMBEDDED, the default, creates on H2 and validates on a server")
    void embeddedCreatesOnlyWhereEmbedded(Database database) {
        try (Db db = Db.fresh(database)) {
            if (database == Database.H2) {
                assertThat(JdbcStore.create(db.plain()).describe()).isEqualTo("H2 tables PUBLIC.idem_*");
            } else {
                assertMissing(SchemaMode.CREATE_IF_EMBEDDED, db.plain());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("VALIDATE refuses missing tables and names the command that creates them")
    void validateRefusesMissingTables(Database database) {
        try (Db db = Db.fresh(database)) {
            assertMissing(SchemaMode.VALIDATE, db.plain());
        }
    }

    private static void assertMissing(SchemaMode mode, DataSource source) {
        assertThatThrownBy(() -> JdbcStore.builder(source).schemaMode(mode).build())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("ERROR tables")
                .hasMessageContaining("idem schema apply");
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("NOTHING looks at nothing; the first message says that the tables are missing")
    void nothingLooksAtNothing(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.create(JdbcStore.builder(db.plain())
                        .schemaMode(SchemaMode.NOTHING)
                        .build())) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("idem schema apply");
            JdbcSchema.of(db.plain()).apply();
            assertThat(inbox.run("payments", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("tables of another version are refused, also by the mode that creates them")
    void anotherVersionIsRefused(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            db.execute("UPDATE idem_meta SET version = 2");
            for (SchemaMode mode : new SchemaMode[] {SchemaMode.VALIDATE, SchemaMode.CREATE}) {
                assertThatThrownBy(() ->
                                JdbcStore.builder(db.plain()).schemaMode(mode).build())
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("have version 2, this release needs 1")
                        .hasMessageContaining("docs/upgrading.md");
            }
            assertThat(db.number("SELECT count(*) FROM idem_meta")).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("an unknown database is named, with the supported ones and the way to choose one")
    void anUnknownDatabaseIsNamed() {
        try (Db db = Db.fresh(Database.H2)) {
            DataSource unknown = renamed(db, "Oracle");
            assertThatThrownBy(() -> JdbcStore.create(unknown))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("'Oracle' is not supported")
                    .hasMessageContaining("PostgreSQL, MariaDB, H2")
                    .hasMessageContaining("JdbcStore.builder(dataSource).database(Database.POSTGRESQL)");
            assertThat(JdbcStore.builder(unknown).database(Database.H2).build().describe())
                    .startsWith("H2");
        }
    }

    private static DataSource renamed(Db db, String product) {
        return new UnitDataSource(() -> {
            Connection real = db.plain().getConnection();
            return Guard.proxy(Connection.class, (proxy, method, args) -> {
                Object answer = method.invoke(real, args);
                return answer instanceof DatabaseMetaData metaData
                        ? Guard.proxy(
                                DatabaseMetaData.class,
                                (p, m, a) ->
                                        m.getName().equals("getDatabaseProductName") ? product : m.invoke(metaData, a))
                        : answer;
            });
        });
    }
}
