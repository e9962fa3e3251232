package dev.idem.cli.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.demo.Children;
import dev.idem.cli.demo.DemoFiles;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.servers.PostgresServer;
import dev.idem.test.fault.TcpFaultProxy;
import java.io.PrintWriter;
import java.sql.SQLException;

/** Sets up a database, a proxy and a pool of workers, lets a campaign run, and judges it by the business tables. */
final class Torture {
    /** An archive of classes takes a few seconds, and saves less than one with each start. */
    private static final int WORTH_LEARNING = 12;

    private final TortureSettings settings;
    private final PrintWriter out;

    Torture(TortureSettings settings, PrintWriter out) {
        this.settings = settings;
        this.out = out;
    }

    TortureReport run() throws Exception {
        long start = System.nanoTime();
        Plan plan = Plan.of(settings.seed(), settings.messages());
        try (var files = new DemoFiles();
                var children = new Children()) {
            // When the user interrupts, nothing below is unwound.
            var hook = new Thread(() -> {
                children.close();
                files.close();
            });
            Runtime.getRuntime().addShutdownHook(hook);
            try (PostgresServer server = PostgresServer.start(settings.defect().server());
                    TcpFaultProxy proxy = TcpFaultProxy.to(server.port())) {
                WorkerJvm jvm = new WorkerJvm(files.directory());
                if (settings.jvmKills() > WORTH_LEARNING) {
                    jvm.learn(database(server, plan));
                }
                String url = database(server, plan);
                String cut = url.replace(":" + server.port() + "/", ":" + proxy.port() + "/");
                try (Campaign campaign = new Campaign(settings, plan, server, proxy, url, out)) {
                    campaign.run(() -> children.start(jvm.builder(cut, settings.defect())));
                    return campaign.report(start);
                }
            } finally {
                removeHook(hook);
            }
        }
    }

    private static String database(PostgresServer server, Plan plan) throws SQLException {
        String url = server.jdbcUrl(server.createDatabase());
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2);
        try (var pool = new HikariDataSource(config)) {
            JdbcSchema.of(pool).apply();
        }
        Business.create(url, plan);
        return url;
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // It is running now.
        }
    }
}
