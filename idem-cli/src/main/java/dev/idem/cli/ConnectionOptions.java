package dev.idem.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which database, and who asks: by options, else the environment, else a file. */
public final class ConnectionOptions {
    private static final long TIMEOUT_MILLIS = 8_000;

    @Option(
            names = "--url",
            paramLabel = "JDBC-URL",
            description =
                    "Address of the database: jdbc:postgresql:…, jdbc:mariadb:… or jdbc:h2:… Default IDEM_URL, else url in"
                            + " the file of --config.")
    @Nullable
    String url;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "Account to log in with. Default IDEM_USER, else user in the file of --config.")
    @Nullable
    String user;

    @ArgGroup(exclusive = true, multiplicity = "0..1")
    Password password = new Password();

    @Option(
            names = Settings.OPTION,
            paramLabel = "FILE",
            description =
                    "Properties file with url, user and password. Default the one that IDEM_CONFIG names, else .idem.properties"
                            + " in the home directory, if it is there.")
    @Nullable
    Path config;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    /** The ways to give a password. */
    static final class Password {
        @Option(
                names = "--password",
                arity = "0..1",
                interactive = true,
                paramLabel = "TEXT",
                description =
                        "Its password; without a value it is asked for. On a shared machine others can see it here."
                                + " Default IDEM_PASSWORD, else password in the file of --config.")
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

    /** Whether any of the three says which database. */
    public boolean isGiven() {
        return address(Settings.of(config)).isPresent();
    }

    private Optional<String> address(Settings settings) {
        return url != null ? Optional.of(url) : settings.url();
    }

    /** A small pool, checked to reach the database. The caller closes it. */
    public HikariDataSource open() throws SQLException {
        Settings settings = Settings.of(config);
        String address = address(settings)
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "Say which database: --url, IDEM_URL in the environment, or url in the file of --config"));
        DriverManager.getDriver(address); // a clear answer for an address that no driver takes
        String secret = password.value();
        var pool = new HikariConfig();
        pool.setJdbcUrl(address);
        pool.setUsername(user != null ? user : settings.user().orElse(null));
        pool.setPassword(secret != null ? secret : settings.password().orElse(null));
        pool.setMaximumPoolSize(2);
        pool.setConnectionTimeout(TIMEOUT_MILLIS);
        try {
            return new HikariDataSource(pool);
        } catch (PoolInitializationException unreachable) {
            if (unreachable.getCause() instanceof SQLException sql) {
                throw sql;
            }
            throw unreachable;
        }
    }
}
