package dev.idem.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Which database, and who asks. */
public final class ConnectionOptions {
    private static final long TIMEOUT_MILLIS = 10_000;

    @Option(
            names = "--url",
            required = true,
            paramLabel = "JDBC-URL",
            description = "Address of the database: jdbc:postgresql:…, jdbc:mariadb:… or jdbc:h2:…")
    String url = "";

    @Option(names = "--user", paramLabel = "NAME", description = "Account to log in with.")
    @Nullable
    String user;

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    Password password = new Password();

    /** The ways to give a password. */
    static final class Password {
        @Option(
                names = "--password",
                arity = "0..1",
                interactive = true,
                paramLabel = "TEXT",
                description =
                        "Its password; without a value it is asked for. On a shared machine others can see it here.")
        @Nullable
        String text;

        @Option(
                names = "--password-env",
                paramLabel = "VARIABLE",
                description = "The environment variable that holds the password.")
        @Nullable
        String variable;

        @Nullable
        String value() {
            return variable == null ? text : Environment.secret(variable, "use --password");
        }
    }

    /** A small pool, checked to reach the database. The caller closes it. */
    public HikariDataSource open() throws SQLException {
        DriverManager.getDriver(url); // a clear answer for an address that no driver takes
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password.value());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(TIMEOUT_MILLIS);
        try {
            return new HikariDataSource(config);
        } catch (PoolInitializationException unreachable) {
            if (unreachable.getCause() instanceof SQLException sql) {
                throw sql;
            }
            throw unreachable;
        }
    }
}
