package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.BrokerUnderTest.Listening;
import dev.idem.test.contract.BrokerUnderTest.Sent;
import dev.idem.test.contract.BrokerUnderTest.Wishes;
import dev.idem.test.fault.TcpFaultProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.opentest4j.TestAbortedException;

/**
 * What the tests of {@link BrokerContract} stand on: a business table, listeners and inboxes that are closed afterwards, and
 * waiting for what must come.
 */
abstract class BrokerBench {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final List<Header> HEADERS = List.of(new Header("h", "1"), new Header("h", "2"));
    private static final RetryPolicy QUICK =
            RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(3);

    static final long MANY_BYTES = 64 * 1024 * 1024;

    final List<Inbox> inboxes = new ArrayList<>();
    final List<Listening> listeners = new ArrayList<>();
    private final List<AutoCloseable> ways = new ArrayList<>();
    private final List<String> handled = Collections.synchronizedList(new ArrayList<>());
    private @Nullable BrokerUnderTest broker;
    private @Nullable DataSource database;

    /** A destination nobody else uses. */
    protected abstract BrokerUnderTest broker() throws Exception;

    /** An empty database with the store's tables, of which each test has its own; it is closed after it if it can be. */
    protected abstract DataSource database() throws Exception;

    protected abstract MarkerStore store(DataSource dataSource) throws Exception;

    /** The port of this machine at which {@link #database} is. */
    protected int databasePort() throws Exception {
        throw new TestAbortedException("this test cannot reach its database by another port yet");
    }

    /**
     * A way to a database by another port of this machine, behind which a proxy is. It is closed after the test if it is {@link
     * AutoCloseable}.
     *
     * @param database as {@link #database} has answered it
     */
    protected DataSource database(DataSource database, int port) throws Exception {
        throw new TestAbortedException("this test cannot reach its database by another port yet");
    }

    @BeforeEach
    void open() throws Exception {
        database = database();
        execute("CREATE TABLE effect (id VARCHAR(100), sequence_number INT)");
        broker = broker();
    }

    @AfterEach
    void closeEverything() throws Exception {
        for (Listening listener : listeners) {
            listener.close(Duration.ofSeconds(10));
        }
        inboxes.forEach(Inbox::close);
        for (AutoCloseable way : ways) {
            way.close();
        }
        if (broker != null) {
            broker.close();
        }
        if (database instanceof AutoCloseable pool) {
            pool.close();
        }
    }

    /** The way to the database that leads through a proxy. */
    DataSource through(TcpFaultProxy proxy) throws Exception {
        DataSource way = database(requireDatabase(), proxy.port());
        if (way instanceof AutoCloseable closeable) {
            ways.add(closeable);
        }
        return way;
    }

    /** A data source that gives no connections while it is away. */
    static DataSource leaving(DataSource real, AtomicBoolean away, AtomicInteger asked) {
        return (DataSource) Proxy.newProxyInstance(
                BrokerContract.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                    if (away.get() && method.getName().equals("getConnection")) {
                        asked.incrementAndGet();
                        throw new SQLException("The database is away", "08001");
                    }
                    return invoke(real, method, arguments);
                });
    }

    /** A data source that gives no connections while it is frozen, and does not say so either. */
    static DataSource freezing(DataSource real, AtomicBoolean frozen) {
        return (DataSource) Proxy.newProxyInstance(
                BrokerContract.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                    while (frozen.get() && method.getName().equals("getConnection")) {
                        Thread.sleep(20);
                    }
                    return invoke(real, method, arguments);
                });
    }

    /** An inbox whose callers get an Error while it is dying. */
    static Inbox dying(Inbox real, AtomicBoolean dying) {
        return (Inbox) Proxy.newProxyInstance(
                BrokerContract.class.getClassLoader(), new Class<?>[] {Inbox.class}, (proxy, method, arguments) -> {
                    if (dying.get() && method.getName().equals("acceptAll")) {
                        throw new NoClassDefFoundError("as a test has asked");
                    }
                    return invoke(real, method, arguments);
                });
    }

    private static @Nullable Object invoke(Object real, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    LetterReplay.Report replay(LetterFilter filter) throws Exception {
        List<String> audit = new ArrayList<>();
        try (DeadLetters letters = requireBroker().deadLetters()) {
            return LetterReplay.of(filter)
                    .as("tester", "the handler is repaired", (c, action, actor, why, detail) -> audit.add(action))
                    .run(letters, progress -> {});
        }
    }

    List<Letter> letters() throws Exception {
        List<Letter> all = new ArrayList<>();
        try (DeadLetters letters = requireBroker().deadLetters()) {
            for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
                all.add(next.get());
            }
        }
        return all;
    }

    Inbox inbox(FaultHook hook) throws Exception {
        Inbox inbox = Inbox.builder(store(requireDatabase())).steps(hook).build();
        inboxes.add(inbox);
        return inbox;
    }

    Listening listen(Inbox inbox, Consumer consumer) throws Exception {
        Listening listener = requireBroker().listen(consumer, inbox, QUICK);
        listeners.add(listener);
        return listener;
    }

    /** A listener whose states can be asked. */
    Listener listener(Inbox inbox, Consumer consumer, long maxPendingBytes) throws Exception {
        return known(requireBroker().listen(consumer, inbox, new Wishes(QUICK, maxPendingBytes, false, false)));
    }

    /** A listener whose broker lets publishers of letters wait when {@link BrokerUnderTest#blockPublishers} says so. */
    Listener patient(Inbox inbox, Consumer consumer) throws Exception {
        return known(requireBroker().listen(consumer, inbox, new Wishes(QUICK, MANY_BYTES, false, true)));
    }

    Listener misspelt(Inbox inbox, Consumer consumer) throws Exception {
        return known(requireBroker().listen(consumer, inbox, new Wishes(QUICK, MANY_BYTES, true, false)));
    }

    private Listener known(Listener listener) {
        listeners.add(new Listening() {
            @Override
            public ListenerState state() {
                return listener.state();
            }

            @Override
            public void close(Duration longest) {
                listener.close(longest);
            }
        });
        return listener;
    }

    @FunctionalInterface
    interface Before {
        void handle(Message message) throws Exception;
    }

    Consumer writer(Before before) {
        return writer(builder -> builder, before);
    }

    Consumer writer(UnaryOperator<Consumer.Builder> more, Before before) {
        return more.apply(Consumer.named("payments"))
                .otherwise((message, tx) -> {
                    before.handle(message);
                    try (PreparedStatement insert =
                            tx.connection().prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
                        insert.setString(1, message.id().orElseThrow());
                        insert.setInt(2, handled.size());
                        insert.executeUpdate();
                    }
                    handled.add(message.id().orElseThrow());
                    return "";
                })
                .build();
    }

    void send(int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            requireBroker().send(message("m" + i, "key"));
        }
    }

    static Sent message(String id, String key) {
        return new Sent(id, key, "payload of " + id, HEADERS);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    List<String> effects() throws Exception {
        List<String> ids = new ArrayList<>();
        try (Connection connection = requireDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id FROM effect ORDER BY sequence_number")) {
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
        }
        return ids;
    }

    void awaitEffects(int count) throws Exception {
        until(count + " effects", () -> effects().size() >= count);
    }

    void awaitSettled() throws Exception {
        until("everything is settled", () -> requireBroker().unsettled() == 0);
    }

    void assertEachOnceInOrder() throws Exception {
        List<String> ids = effects();
        assertThat(ids).doesNotHaveDuplicates();
        List<String> inOrder = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            inOrder.add("m" + i);
        }
        assertThat(ids).containsExactlyElementsOf(inOrder);
    }

    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void until(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long for: " + what).isLessThan(deadline);
            Thread.sleep(50);
        }
    }

    BrokerUnderTest requireBroker() {
        return Objects.requireNonNull(broker, "broker");
    }

    DataSource requireDatabase() {
        return Objects.requireNonNull(database, "database");
    }

    void execute(String sql) throws Exception {
        try (Connection connection = requireDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
