package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.internal.retention.RestoreDetector;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.Replayer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every thread that this library starts, and that none of them ends by anything but the end of its work. */
class BackgroundThreadsTest {
    /** Where threads are begun, and why an Error inside does no harm. Whoever adds one adds a line, and a proof. */
    private static final Map<String, String> PLACES = Map.ofEntries(
            Map.entry("idem-core/WorkerPool", "idem-payments-0: this test"),
            Map.entry("idem-core/Leases", "idem-leases: LeasesTest"),
            Map.entry("idem-core/Workers", "idem-care: this test"),
            Map.entry("idem-core/ReplayLoop", "idem-replayer: this test"),
            Map.entry("idem-core/ReplayLease", "idem-replay-lease: this test"),
            Map.entry("idem-core/Events", "idem-events: this test"),
            Map.entry("idem-core/Deadlines", "idem-deadlines: DeadlinesTest; the others do one thing and end"),
            Map.entry("idem-core/StuckTurn", "idem-record: repeats one thing until it is done; StuckHandlerTest"),
            Map.entry("idem-core/Threads", "what the others are made by"),
            Map.entry(
                    "idem-core/broker/KeyedExecutor",
                    "lanes and copies of a broker: KeyedExecutorTest, CopyPublisherTest"),
            Map.entry("idem-core/broker/StoreProbe", "asks once and ends: StoreProbeTest"),
            Map.entry("idem-core/broker/ListenerOptions", "makes the threads of listeners"),
            Map.entry("idem-jdbc/Sweeper", "idem-retention: this test"),
            Map.entry("idem-jdbc/Listener", "idem-listen: this test"),
            Map.entry("idem-jdbc/Notifier", "idem-notify: this test"),
            Map.entry("idem-jdbc/RestoreDetector", "idem-witness: this test"),
            Map.entry("idem-jdbc/NoteConnection", "closes one connection and ends: CloseTest"),
            Map.entry("idem-jdbc/PoolSize", "asks for one connection until it has got one, and ends: PoolSizeTest"),
            Map.entry("idem-jdbc/RunningStatement", "cancels one statement and ends"),
            Map.entry("idem-jms/JmsRun", "the receiver and the lanes: their own tests"),
            Map.entry("idem-jms/Outgoing", "closes one connection and ends"),
            Map.entry("idem-kafka/Life", "the poll loops and the lanes: their own tests"),
            Map.entry("idem-rabbitmq/RabbitRun", "the supervisor and the lanes: their own tests"));

    private static final Pattern BEGUN = Pattern.compile(
            "new Thread\\(|Threads\\.start\\(|\\.newThread\\(|Executors\\.new|new Timer\\(|commonPool|runAsync\\(|supplyAsync\\("
                    + "|\\.worker\\([^)]|\\.keeper\\(");

    @Test
    @DisplayName("every place where a thread is begun is known here")
    void allAreKnown() throws IOException {
        Set<String> found = new TreeSet<>();
        for (String module : List.of("idem-core", "idem-jdbc", "idem-kafka", "idem-rabbitmq", "idem-jms")) {
            Path sources = ProjectRoot.find().resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    if (BEGUN.matcher(Files.readString(file)).find()) {
                        String name = file.getFileName().toString().replace(".java", "");
                        found.add(module + (file.toString().contains("/broker/") ? "/broker/" : "/") + name);
                    }
                }
            }
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(PLACES.keySet());
    }

    /** Throws an Error when a thread of ours asks for its first connection; workers meet one in each of their looks. */
    private static final class Mined {
        private final DataSource real;
        private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();

        private Mined(DataSource real) {
            this.real = real;
        }

        private Connection connection() throws SQLException {
            String thread = Thread.currentThread().getName();
            if (thread.startsWith("idem-")) {
                int now =
                        asked.computeIfAbsent(thread, t -> new AtomicInteger()).incrementAndGet();
                if (now == 1 || (thread.startsWith("idem-payments") && now < 6 && now != 2)) {
                    throw new NoClassDefFoundError("for " + thread);
                }
            }
            return real.getConnection();
        }

        private boolean hasSurvived(String thread) {
            int times = asked.getOrDefault(thread, new AtomicInteger()).get();
            return times >= (thread.startsWith("idem-payments") ? 8 : 2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a replayer and the thread that keeps its session survive an Error, say so, and go on")
    void aReplayerSurvivesAnError(Database database) throws Exception {
        AtomicReference<Mined> mined = new AtomicReference<>();
        try (CapturedLog log = CapturedLog.of(Replayer.class);
                ReplayBench bench = new ReplayBench(database, db -> {
                    mined.set(new Mined(db.pool(10)));
                    return new UnitDataSource(mined.get()::connection);
                })) {
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                    .otherwise((Message message, Transaction tx) -> {
                        await().atMost(Duration.ofSeconds(30))
                                .until(() -> mined.get().hasSurvived("idem-replay-lease"));
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            bench.registered(consumer);
            bench.given.addAll(ReplayBench.messages(1));
            bench.anna().start("s1", "payments", ReplayBench.GIVEN);
            bench.replayer(consumer);
            await().atMost(Duration.ofSeconds(40)).until(() -> bench.db.payments() == 1);
            assertThat(mined.get().hasSurvived("idem-replayer")).isTrue();
            assertTold(log.alarms(), Set.of("idem-replayer", "idem-replay-lease"));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("each of them survives an Error inside its loop, says so, and goes on")
    void eachSurvivesAnError(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Mined mined = new Mined(db.pool(20));
            DataSource source = new UnitDataSource(mined::connection);
            AtomicInteger heard = new AtomicInteger();
            JdbcStore store = JdbcStore.builder(source)
                    .schemaMode(SchemaMode.CREATE)
                    .sweepEvery(Duration.ofMillis(100))
                    .build();
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withReplay(Policy.Replay.ALLOWED))
                    .queued(QueuePolicy.inTransaction().withWorkers(2).withPoll(Duration.ofMillis(50)))
                    .otherwise((Message message, Transaction tx) -> {
                        tx.nothingToDo();
                        return null;
                    })
                    .build();
            try (Inbox inbox = Inbox.builder(store)
                            .listener(new InboxListener() {
                                @Override
                                public void settled(Delivery delivery) {
                                    if (heard.incrementAndGet() == 1) {
                                        throw new NoClassDefFoundError("once");
                                    }
                                }
                            })
                            .build();
                    CapturedLog core = CapturedLog.of(Inbox.class);
                    CapturedLog jdbc = CapturedLog.of(JdbcStore.class);
                    RestoreDetector witness = new RestoreDetector(source, db.tables(), Duration.ofMillis(20))) {
                witness.testimony();
                witness.confirm(List.of());
                inbox.start(consumer);
                Set<String> names = new TreeSet<>(
                        Set.of("idem-payments-0", "idem-payments-1", "idem-care", "idem-retention", "idem-witness"));
                if (database == Database.POSTGRESQL) {
                    names.addAll(Set.of("idem-listen", "idem-notify"));
                }
                AtomicInteger count = new AtomicInteger();
                await().atMost(Duration.ofSeconds(50)).untilAsserted(() -> {
                    inbox.accept(consumer, Db.message("m" + count.incrementAndGet()));
                    witness.testimony();
                    assertThat(names).allMatch(mined::hasSurvived);
                    assertThat(heard).hasValueGreaterThan(2);
                });
                List<String> alarms = new ArrayList<>(core.alarms());
                alarms.addAll(jdbc.alarms());
                assertTold(alarms, names);
            }
        }
    }

    /** An Error is never only survived: somebody must look at it. */
    private static void assertTold(List<String> alarms, Set<String> threads) {
        for (String thread : threads) {
            assertThat(alarms).as("what %s has survived", thread).anyMatch(line -> line.contains("for " + thread));
        }
    }
}
