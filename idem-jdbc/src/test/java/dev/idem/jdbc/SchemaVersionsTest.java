package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Keeps users' tables in sight when the scripts change.
 *
 * <p><b>Until a version is released</b> its scripts may change; the rows in {@code schema/v<n>/<database>-rows.sql} go with
 * them, by hand.
 *
 * <p><b>When it is released</b>, this writes the checksums of its scripts into {@code schema/released.txt}, and from then on
 * a change of them, or of its rows, is an error:
 *
 * <pre>mvn test -pl idem-jdbc -am -Dtest=SchemaVersionsTest -Didem.schema.release=1 -Dsurefire.failIfNoSpecifiedTests=false</pre>
 *
 * <p><b>The next version</b> is a new folder {@code schema/v<n+1>}, another {@link JdbcSchema#VERSION}, scripts that bring the
 * tables of each released version to it, and rows of its own. {@link UpgradeTest} then starts from every released version.
 */
@Tag("quick")
class SchemaVersionsTest {
    private static final Path TESTS = Path.of("src/test/resources/dev/idem/jdbc/schema");
    private static final List<String> SCRIPTS =
            List.of("h2.sql", "mariadb.sql", "postgresql.sql", "postgresql-partitioned.sql");
    private static final List<String> ROWS = List.of("h2-rows.sql", "mariadb-rows.sql", "postgresql-rows.sql");

    @Test
    @DisplayName("RP-09 the scripts of a released version, and the rows that stand for its users, are never changed")
    void released() throws IOException {
        Path file = TESTS.resolve("released.txt");
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        String version = System.getProperty("idem.schema.release");
        if (version != null) {
            lines.removeIf(line -> line.startsWith("# None"));
            lines.addAll(lines(version, lines, SchemaVersionsTest::bytes));
            Files.write(file, lines);
        }
        assertThat(changed(lines, SchemaVersionsTest::bytes)).isEmpty();
    }

    @Test
    @DisplayName("RP-09 a changed byte, and a missing file, of a released version is found; releasing twice is refused")
    void theGuardCanFail() {
        Map<String, byte[]> files = new TreeMap<>();
        for (String name : all()) {
            files.put("v1/" + name, name.getBytes(StandardCharsets.UTF_8));
        }
        List<String> lines = lines("1", List.of("# a comment"), files::get);
        assertThat(lines).hasSize(7);
        assertThat(changed(lines, files::get)).isEmpty();
        files.put("v1/h2.sql", "changed".getBytes(StandardCharsets.UTF_8));
        files.remove("v1/mariadb-rows.sql");
        assertThat(changed(lines, files::get)).containsExactly("v1/h2.sql", "v1/mariadb-rows.sql");
        assertThat(lines("1", lines, files::get)).isEmpty();
    }

    private static List<String> all() {
        List<String> all = new ArrayList<>(SCRIPTS);
        all.addAll(ROWS);
        return all;
    }

    private static List<String> lines(String version, List<String> before, Function<String, byte[]> files) {
        return before.stream().anyMatch(line -> line.startsWith("v" + version + "/"))
                ? List.of()
                : all().stream()
                        .map(name -> "v" + version + "/" + name)
                        .map(name -> name + " " + sum(files.apply(name)))
                        .toList();
    }

    private static List<String> changed(List<String> lines, Function<String, byte[]> files) {
        return lines.stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(" "))
                .filter(line -> !sum(files.apply(line[0])).equals(line[1]))
                .map(line -> line[0])
                .toList();
    }

    private static String sum(byte[] content) {
        try {
            return content == null
                    ? "missing"
                    : HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static byte[] bytes(String name) {
        try (InputStream file = JdbcSchema.class.getResourceAsStream("schema/" + name)) {
            return file == null ? null : file.readAllBytes();
        } catch (IOException unreadable) {
            throw new AssertionError(unreadable);
        }
    }

    @ParameterizedTest(name = "{0} without {1} {2}")
    @CsvSource({
        "POSTGRESQL, queue, stream_key",
        "MARIADB, queue, stream_key",
        "H2, queue, stream_key",
        "POSTGRESQL, retention, horizon",
        "MARIADB, meta, accepted_at",
        "POSTGRESQL, meta, secret",
        "MARIADB, meta, secret",
        "H2, meta, secret",
        "H2, replay, policy",
    })
    @DisplayName("RP-09 a column that is missing is found at start by its name, with what would add it")
    void aMissingColumn(Database database, String table, String column) {
        try (Db db = Db.fresh(database)) {
            db.store();
            if (column.equals("stream_key")) {
                db.execute(
                        database == Database.MARIADB
                                ? "DROP INDEX idem_queue_stream ON idem_queue"
                                : "DROP INDEX idem_queue_stream");
            }
            db.execute("ALTER TABLE idem_" + table + " DROP COLUMN " + column);
            List<Finding> findings = errors(db);
            assertThat(findings).singleElement().satisfies(finding -> {
                assertThat(finding.severity()).isEqualTo(Finding.Severity.ERROR);
                assertThat(finding.problem()).contains("idem_" + table + " has no column " + column);
                assertThat(finding.action()).contains("ADD COLUMN " + column + " ");
            });
            String action = findings.get(0).action();
            db.execute(action.substring(action.indexOf("ALTER TABLE")));
            assertThat(errors(db)).isEmpty();
        }
    }

    private static List<Finding> errors(Db db) {
        return JdbcSchema.of(db.plain()).validate().stream()
                .filter(finding -> finding.severity() == Finding.Severity.ERROR)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-09 every table that is missing is found at start by its name, and created by what the finding says")
    void missingTables(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            List<String> tables = List.copyOf(
                    SchemaParts.wanted(JdbcSchema.resource(database, "")).keySet());
            assertThat(tables).hasSizeGreaterThan(14).contains("meta", "marker", "queue", "witness");
            for (String table : tables.subList(1, tables.size())) { // without the first one nothing is known at all
                db.execute("DROP TABLE idem_" + table);
                assertThat(errors(db))
                        .singleElement()
                        .satisfies(finding -> assertThat(finding.problem()).contains("idem_" + table + " is missing"));
                JdbcSchema.of(db.plain()).apply();
                assertThat(errors(db)).as(table).isEmpty();
            }
        }
    }

    @Test
    @DisplayName("RP-09 markers in partitions have columns of their own, and are whole")
    void partitioned() {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            JdbcSchema.of(db.plain()).applyPartitioned(0);
            assertThat(JdbcSchema.of(db.plain()).validate()).isEmpty();
            db.execute("ALTER TABLE idem_marker DROP COLUMN claim_id");
            assertThat(JdbcSchema.of(db.plain()).validate())
                    .extracting(Finding::problem)
                    .anyMatch(problem -> problem.contains("idem_marker has no column claim_id"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("the script is understood whole: every column that a new database has, and no other")
    void theScriptIsUnderstood(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            Map<String, Map<String, String>> wanted = SchemaParts.wanted(JdbcSchema.resource(database, ""));
            long columns = wanted.values().stream().mapToLong(Map::size).sum();
            String where = database == Database.MARIADB ? " AND table_schema = DATABASE()" : "";
            assertThat(db.number("SELECT count(*) FROM information_schema.columns WHERE lower(table_name) LIKE 'idem%'"
                            + where))
                    .isEqualTo(columns);
        }
    }
}
