package dev.idem.cli.newcomer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.servers.LongLane;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What somebody does who has only the pages: a new Maven project with the dependencies, the program and the command of the README,
 * and the test of the guide, on PostgreSQL. All of it is taken from the pages, so they cannot say what does not work.
 */
@ExtendWith(SkipWithoutServer.class)
@Timeout(300)
class NewcomerTest {
    private static final String README_URL = "jdbc:postgresql://localhost/shop?user=shop&password=secret";

    /** What somebody has who runs tests at all, and the dependency of the guide. */
    private static final String TESTS = """
                <dependency>
                    <groupId>org.junit.jupiter</groupId>
                    <artifactId>junit-jupiter</artifactId>
                    <version>${junit.version}</version>
                    <scope>test</scope>
                </dependency>
            %s</dependencies>
            <build>
                <plugins>
                    <plugin>
                        <artifactId>maven-surefire-plugin</artifactId>
                        <version>%s</version>
                    </plugin>
                </plugins>
            </build>
            """;

    private static PostgresServer server;
    private static NewProject project;

    @BeforeAll
    static void aNewProject() throws Exception {
        server = PostgresServer.shared();
        Page readme = Page.of("README.md");
        project = NewProject.in(Path.of("target", "newcomer"))
                .pom(readme.block("newcomer: pom"))
                .source("main", "FirstConsumer.java", readme.block("newcomer: FirstConsumer.java"));
    }

    @Test
    void theProgramOfTheReadmeRunsByTheCommandOfTheReadme() throws Exception {
        String url = database();
        String command = Page.of("README.md").block("newcomer: run").strip();
        assertThat(command).contains(README_URL);

        NewProject.Run run =
                project.pom(Page.of("README.md").block("newcomer: pom")).run(command, README_URL, url);

        assertThat(run.code()).as(run.said()).isZero();
        assertThat(run.said())
                .as("neither slf4j nor Maven misses anything")
                .doesNotContain("SLF4J", "platform encoding", "[WARNING]");
        assertThat(run.said().lines().filter(line -> line.contains("the broker is told")))
                .hasSize(3)
                .allMatch(line -> line.endsWith("the broker is told ACK"))
                .satisfiesExactly(
                        first -> assertThat(first).contains("Processed["),
                        second -> assertThat(second).contains("Duplicate["),
                        third -> assertThat(third).contains("Duplicate["));
        assertThat(payments(url)).isEqualTo(1);
    }

    /** The oldest that is promised, and the one of this build. */
    static Stream<String> junits() {
        return Stream.of("5.12.2", NewProject.ofThisBuild("junit.version"));
    }

    @ParameterizedTest
    @MethodSource("junits")
    @DisplayName("the test of the guide runs on PostgreSQL, and on the JUnit that the newcomer has")
    void theTestOfTheGuideRuns(String junit) throws Exception {
        String tests = TESTS.formatted(
                Page.of("docs/guide.md").block("newcomer: test"), NewProject.ofThisBuild("surefire-plugin.version"));
        project.pom(Page.of("README.md").block("newcomer: pom").replace("</dependencies>", tests));
        project.source(
                "test",
                "FirstConsumerTest.java",
                test(Page.of("docs/guide.md").block("snippet: handler-test"), database()));

        NewProject.Run run = project.run("mvn -q test -Djunit.version=" + junit);

        assertThat(run.code()).as(run.said()).isZero();
        assertThat(run.said()).containsPattern("Idempotent: \\d\\d+ scenarios end like one clean delivery");
        assertThat(run.said().lines().filter(line -> line.matches(".*(Inbox: |durability|new consumer).*")))
                .as("lines of start-up, at INFO")
                .hasSizeLessThan(5);
    }

    /** In a copy of the source tree, which must not lie inside of it. It takes minutes, so other lanes than the long one ask Maven only whether it could. */
    @Test
    @Timeout(1_800)
    void theCommandThatInstallsIsOneThatMavenObeys(@TempDir Path folder) throws Exception {
        String install = Page.of("README.md").block("newcomer: install").strip();
        assertThat(install).startsWith("mvn ").contains(" install ", "-pl idem-jdbc,idem-test -am");
        NewProject sources = NewProject.copyOfTheSources(folder);

        NewProject.Run run = sources.run(LongLane.isOn() ? install : install.replace(" install ", " validate "));

        assertThat(run.code()).as(run.said()).isZero();
        List<String> installed = List.of("idem-core", "idem-jdbc", "idem-parent", "idem-test", "servers");
        assertThat(sources.installed()).containsExactlyInAnyOrderElementsOf(LongLane.isOn() ? installed : List.of());
        NewProject.Run wrong = sources.run("mvn -q validate -pl idem-jdcb -am");
        assertThat(wrong.code()).as("Maven notices a module that is not there").isNotZero();
    }

    /** The guide shows the members of a class; this is the class around them. */
    private static String test(String members, String url) {
        return """
                import dev.idem.Message;
                import dev.idem.jdbc.JdbcStore;
                import dev.idem.test.IdempotencyTest;
                import java.sql.Connection;
                import java.sql.SQLException;
                import javax.sql.DataSource;
                import org.junit.jupiter.api.Test;
                import org.junit.jupiter.api.extension.RegisterExtension;
                import org.postgresql.ds.PGSimpleDataSource;

                class FirstConsumerTest {
                    private static final DataSource dataSource = dataSource();
                    private final Message message = Message.of("event-1", "order-42".getBytes());

                %s
                    private static void pay(Connection connection, String order) throws SQLException {
                        FirstConsumer.pay(connection, order);
                    }

                    private static DataSource dataSource() {
                        PGSimpleDataSource database = new PGSimpleDataSource();
                        database.setUrl("%s");
                        return database;
                    }
                }
                """.formatted(members, url);
    }

    private static String database() {
        return server.jdbcUrl(server.createDatabase());
    }

    private static int payments(String url) throws Exception {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM payment")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
