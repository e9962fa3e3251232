package dev.idem.torture;

import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.Logging;
import dev.idem.cli.demo.Children;
import dev.idem.cli.demo.DemoFiles;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.kafka.KafkaInbox;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.servers.PostgresServer;
import dev.idem.test.fault.TcpFaultProxy;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** Sets up servers, a proxy and a pool of workers, lets a campaign run, and judges it by the business tables. */
final class Torture {
    /** An archive of classes takes a few seconds, and saves less than one with each start. */
    private static final int WORTH_LEARNING = 12;

    private static final List<Class<?>> ADAPTERS =
            List.of(KafkaInbox.class, KafkaConsumer.class, RabbitInbox.class, ConnectionFactory.class);

    private final TortureSettings settings;
    private final PrintWriter out;
    private final long start = System.nanoTime();

    Torture(TortureSettings settings, PrintWriter out) {
        this.settings = settings;
        this.out = out;
    }

    Report run() throws Exception {
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
                return settings.subject() == Subject.INBOX
                        ? inbox(server, proxy, files.directory(), children)
                        : broker(server, proxy, files.directory(), children);
            } finally {
                removeHook(hook);
            }
        }
    }

    private Report inbox(PostgresServer server, TcpFaultProxy proxy, Path directory, Children children)
            throws Exception {
        Plan plan = Plan.of(settings.seed(), settings.messages());
        WorkerJvm jvm = new WorkerJvm(directory, WorkerMain.class, List.of());
        if (settings.kills() > WORTH_LEARNING) {
            Item item = new Item(0, Mode.LOCAL, 0, 0, Item.Nature.TERMINAL);
            jvm.learn(database(server, plan), List.of("1 " + item.line()), "1 ", Defect.NONE.name());
        }
        String url = database(server, plan);
        Backlog.store(url, plan, settings.defect());
        Stage stage = new Stage(
                settings, plan, url, proxy, Victim.of(server, url), seed -> new InboxTraffic(plan, seed, url));
        return play(
                stage,
                throughProxy(url, server, proxy),
                jvm,
                children,
                settings.defect().name());
    }

    private Report broker(PostgresServer server, TcpFaultProxy proxy, Path directory, Children children)
            throws Exception {
        // Their clients tell of each try while the broker is away.
        Logging.hush("org.apache.kafka");
        Logging.hush("com.rabbitmq");
        try (BrokerServer broker = BrokerServer.start(settings)) {
            Plan plan = Plan.inline(
                    settings.seed(), settings.messages(), settings.isOrdered(), broker.lanes(), settings.hasPoison());
            WorkerJvm jvm = new WorkerJvm(directory, ConsumerMain.class, ADAPTERS);
            if (settings.kills() > WORTH_LEARNING) {
                learn(jvm, database(server, plan), plan, broker);
            }
            String url = database(server, plan);
            Stage stage = new Stage(
                    settings, plan, url, proxy, broker, seed -> new BrokerTraffic(plan, broker, settings.defect()));
            String[] arguments = ConsumerMain.arguments(settings, settings.defect(), broker.address());
            return play(stage, throughProxy(url, server, proxy), jvm, children, arguments);
        }
    }

    /** On a message of the plan: should it be left in the broker, it is a duplicate like others. */
    private void learn(WorkerJvm jvm, String url, Plan plan, BrokerServer broker) throws Exception {
        for (int lane = 0; lane < plan.lanes().size(); lane++) {
            List<Item> stream = plan.lanes().get(lane);
            if (!stream.isEmpty()) {
                broker.publish(lane, List.of(settings.defect().delivered(stream.get(0))));
                jvm.learn(
                        url,
                        List.of(),
                        ConsumerMain.DELIVERED,
                        ConsumerMain.arguments(settings, Defect.NONE, broker.address()));
                broker.forgetConsumers();
                return;
            }
        }
    }

    private Report play(Stage stage, String workersUrl, WorkerJvm jvm, Children children, String... arguments)
            throws Exception {
        try (Campaign campaign = new Campaign(stage, out)) {
            campaign.run(() -> children.start(jvm.builder(workersUrl, arguments)));
            return campaign.report(start);
        }
    }

    private static String throughProxy(String url, PostgresServer server, TcpFaultProxy proxy) {
        return url.replace(":" + server.port() + "/", ":" + proxy.port() + "/");
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
