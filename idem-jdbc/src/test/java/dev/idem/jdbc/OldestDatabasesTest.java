package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.internal.sql.Check;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is promised of old databases is what the profile for them runs on. */
class OldestDatabasesTest {
    @Test
    @DisplayName("the README, the scripts and the start-up checks name the oldest versions that tests run on")
    void everyPlaceNamesWhatIsRun() throws IOException {
        String postgres = oldest("postgres-binaries.version", "(\\d+)\\.[\\d.]+");
        String mariaDb = oldest("mariadb-binaries.version", "(\\d+\\.\\d+)\\.\\d+");
        assertThat(Files.readString(ProjectRoot.find().resolve("README.md")))
                .contains("PostgreSQL (" + postgres + "+), MariaDB (" + mariaDb + "+)");
        assertThat(JdbcSchema.script(Database.POSTGRESQL, null, "idem_"))
                .contains("PostgreSQL " + postgres + " or later");
        assertThat(JdbcSchema.script(Database.MARIADB, null, "idem_")).contains("MariaDB " + mariaDb + " or later");
        assertThat(version(Database.POSTGRESQL).action()).contains("version " + postgres + " or later");
        assertThat(version(Database.MARIADB).action()).contains("MariaDB " + mariaDb + " or later");
    }

    private static String oldest(String property, String version) throws IOException {
        String pom = Files.readString(ProjectRoot.find().resolve("pom.xml"));
        Matcher matcher = Pattern.compile("<" + property + ">" + version + "</")
                .matcher(pom.substring(pom.indexOf("<id>oldest-databases</id>")));
        assertThat(matcher.find()).as(property).isTrue();
        return matcher.group(1);
    }

    private static Check version(Database database) {
        return Dialect.of(database).checks().stream()
                .filter(check -> check.name().equals("version"))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, 130022, true",
        "POSTGRESQL, 140000, false",
        "POSTGRESQL, 180006, false",
        "MARIADB, 5.5.68-MariaDB, true",
        "MARIADB, 10.1.48-MariaDB, true",
        "MARIADB, 10.6.21-MariaDB-log, true",
        "MARIADB, 10.10.7-MariaDB, true",
        "MARIADB, 10.11.5-MariaDB, false",
        "MARIADB, 11.4.5-MariaDB, false",
        "MARIADB, 12.1.2-MariaDB, false",
        "MARIADB, 8.4.3, true",
    })
    @Tag("second-pass")
    @DisplayName("older versions are refused at start, and no others")
    void olderOnesAreRefused(Database database, String version, boolean refused) throws Exception {
        Check check = version(database);
        String sql = check.sql()
                .replace("current_setting('server_version_num')", "'" + version + "'")
                .replace("VERSION()", "'" + version + "'");
        assertThat(sql).contains(version);
        try (Db db = Db.fresh(database);
                var connection = db.plain().getConnection()) {
            Tables tables = db.tables();
            Check pretending = Check.error(check.name(), sql, check.problem(), check.action());
            assertThat(pretending.run(connection, tables).isPresent()).isEqualTo(refused);
        }
    }
}
