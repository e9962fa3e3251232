package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.sql.Grants;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import dev.idem.queue.QueuePolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a person reads when something is missing: what it is, where it was looked for, and the statement that helps. */
class ErrorTextTest {
    private static final String CANARY = "CANARY-4711";
    private static final String CANARY_BYTES = HexFormat.of().formatHex(CANARY.getBytes(StandardCharsets.UTF_8));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("tables that are not there do not exist, and nobody is told of a failure to read them")
    void noTables(Database database) {
        try (Db db = Db.fresh(database)) {
            assertThatThrownBy(() -> JdbcStore.builder(db.plain())
                            .schemaMode(SchemaMode.VALIDATE)
                            .build())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("do not exist")
                    .hasMessageContaining("Create them: idem schema apply");
        }
    }

    @Test
    @DisplayName("tables of the same names in other schemas are named, and whether the search path has them")
    void tablesElsewhere() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            db.store();
            db.execute("CREATE SCHEMA app", "CREATE SCHEMA other", "CREATE TABLE other.idem_meta (version integer)");
            assertThatThrownBy(() -> JdbcStore.create(Db.plain(db.url("currentSchema=app,public"))))
                    .hasMessageContaining("The tables app.idem_* do not exist")
                    .hasMessageContaining(
                            "others of the same names are in schema \"public\", which is on the search path,"
                                    + " schema \"other\"")
                    .hasMessageContaining("JdbcStore.builder(dataSource).schema(\"public\")");
        }
    }

    @Test
    @DisplayName("MariaDB names the database that has the tables")
    void tablesElsewhereOnMariaDb() {
        try (Db db = Db.fresh(Database.MARIADB);
                Db empty = Db.fresh(Database.MARIADB)) {
            db.store();
            assertThatThrownBy(() -> JdbcStore.create(empty.plain()))
                    .hasMessageContaining("do not exist")
                    .hasMessageContaining("others of the same names are in schema \"");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("SE-08 missing rights come with the grant: for this role, on Idem's tables alone, and it suffices")
    void theGrant(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            db.execute("CREATE TABLE secret (x INT)");
            String role = "r_" + java.util.UUID.randomUUID().toString().substring(0, 8);
            db.execute(
                    database == Database.POSTGRESQL
                            ? "CREATE ROLE " + role + " LOGIN"
                            : "CREATE USER " + role + "@'%'");
            if (database == Database.MARIADB) { // whoever has no right at all cannot connect to a database
                db.execute("GRANT SELECT ON secret TO " + role + "@'%'");
            }
            String text = textOf(db, role);
            String named = database == Database.POSTGRESQL ? role : "'" + role + "'@'%'";
            assertThat(text)
                    .contains("The role " + named + " may not read the tables", " TO " + named)
                    .doesNotContain("ALL TABLES", "secret", "schema apply", "payment");
            String grants = text.substring(text.indexOf("run: ") + 5)
                    .lines()
                    .findFirst()
                    .orElseThrow();
            assertThat(grants.split("; ")).allMatch(grant -> grant.startsWith("GRANT ") && grant.contains("idem_"));
            db.execute(grants.split("; "));
            assertThat(JdbcSchema.of(Db.plain(db.urlOf(role))).validate())
                    .noneMatch(finding -> finding.severity() == Finding.Severity.ERROR);
        }
    }

    private static String textOf(Db db, String role) {
        try {
            JdbcStore.create(Db.plain(db.urlOf(role)));
            throw new AssertionError("may do what it may not");
        } catch (StoreException refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("the grants are those that the page for operators lists")
    void asThePageSays(Database database) throws Exception {
        Map<String, String> page = new LinkedHashMap<>();
        for (String line : Files.readAllLines(ProjectRoot.find().resolve("docs/operations.md"))) {
            String[] cells = line.split("\\s*\\|\\s*", -1);
            if (line.startsWith("| `idem_") && cells.length == 5 && !cells[2].isEmpty()) {
                boolean here = database == Database.MARIADB || !cells[1].contains("MariaDB");
                String table = cells[1].replaceAll("`idem_(\\w+)`.*", "$1");
                if (here) {
                    page.merge(table, cells[2], (first, besides) -> first + ", " + besides);
                }
            }
        }
        assertThat(Grants.ofService(database)).containsExactlyInAnyOrderEntriesOf(page);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-04 what a database says of a message that it refuses is quoted, without the row and the statement")
    void refused(Database database) {
        Consumer consumer = Consumer.named("billing")
                .queued(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> null)
                .build();
        Message message = Message.builder()
                .id("m-1")
                .type("order.placed")
                .orderingKey(CANARY)
                .header("token", CANARY)
                .payload(CANARY.getBytes(StandardCharsets.UTF_8))
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                CapturedLog log = CapturedLog.of("dev.idem")) {
            inbox.register(consumer);
            db.execute("ALTER TABLE idem_queue ADD CONSTRAINT no_more CHECK (status = 99)");
            for (List<Message> delivery : List.of(List.of(message), List.of(message, Db.message("m-2")))) {
                Outcome<?> outcome = inbox.acceptAll(consumer, delivery).get(0);
                assertThat(outcome).isInstanceOf(Outcome.Failed.class);
                assertQuoted(((Outcome.Failed<?>) outcome).cause().getMessage());
            }
            assertThat(log.everything())
                    .anyMatch(line -> line.toLowerCase(Locale.ROOT).contains("no_more"))
                    .noneMatch(line -> line.contains(CANARY) || line.contains(CANARY_BYTES));
            db.execute("ALTER TABLE idem_marker DROP COLUMN readable");
            assertThatThrownBy(() -> inbox.run("payments", message, Transaction::nothingToDo))
                    .isInstanceOf(StoreException.class)
                    .message()
                    .contains("the database says: ")
                    .containsIgnoringCase("readable")
                    .doesNotContain("INSERT INTO", "VALUES")
                    .hasLineCount(1);
        }
    }

    private static void assertQuoted(String text) {
        assertThat(text)
                .containsIgnoringCase("no_more")
                .doesNotContain(CANARY, CANARY_BYTES, "Failing row", "INSERT INTO", "VALUES")
                .hasLineCount(1);
    }

    @Test
    @DisplayName("an error without advice of ours quotes the database, but no row and no statement of a batch")
    void quoted() {
        assertThat(SqlFaults.advice(
                        new SQLException("ERROR: value too long\n  Detail: Failing row contains (4711).", "22001")))
                .isEqualTo("the database says: ERROR: value too long");
        BatchUpdateException batch = new BatchUpdateException(
                "Batch entry 0 INSERT INTO t VALUES ('4711') was aborted", "22001", new int[0]);
        assertThat(SqlFaults.advice(batch)).doesNotContain("4711");
        batch.setNextException(new SQLException("ERROR: value too long\nDetail: 4711", "22001"));
        assertThat(SqlFaults.advice(batch)).isEqualTo("the database says: ERROR: value too long");
        assertThat(SqlFaults.advice(new SQLException((String) null))).contains("java.sql.SQLException");
        assertThat(SqlFaults.advice(new SQLException("ERROR: relation \"x\" does not exist", "42P01")))
                .isEqualTo("the tables do not exist; create them: idem schema apply; the database says: ERROR: relation"
                        + " \"x\" does not exist");
    }
}
