package dev.idem.test;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.spi.MarkerStore;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests your own handler: delivers its messages twice, at the same time, with a crash at every step and with every
 * connection lost, and compares the contents of your tables each time with those after one clean delivery.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final IdempotencyTest idem = IdempotencyTest.on(dataSource)
 *         .store(JdbcStore::create)
 *         .schema("create table payment (order_id varchar(40), amount int, paid_at timestamp)")
 *         .ignoringColumns("paid_at");
 *
 * @Test
 * void paysOnce() {
 *     idem.deliver(payments, orderPlaced).check();                              // every scenario
 *     idem.deliver(payments, orderPlaced).twice().matchesOneCleanDelivery();    // one of them
 * }
 * }</pre>
 *
 * <p>It finds handlers that write through a connection of their own, keep state in memory, or swallow SQL errors. It sees
 * only tables: a mail sent twice is not found.
 *
 * <p><strong>It empties every table</strong> of the schema the connections are in, before each scenario: give it a
 * database that belongs to the test. Configure it before the first delivery. Not thread-safe.
 */
public final class IdempotencyTest implements BeforeEachCallback {
    private final Setting setting;

    private IdempotencyTest(Supplier<? extends DataSource> dataSource) {
        setting = new Setting(dataSource);
    }

    public static IdempotencyTest on(DataSource dataSource) {
        Objects.requireNonNull(dataSource, "dataSource");
        return on(() -> dataSource);
    }

    /** For a database that is not there yet when the test class is loaded. */
    public static IdempotencyTest on(Supplier<? extends DataSource> dataSource) {
        return new IdempotencyTest(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /**
     * Required: how to make the store, for example {@code JdbcStore::create}. Called anew for each process that starts. The
     * store creates its tables, as on an embedded database, unless it is told to do something else.
     */
    public IdempotencyTest store(Function<? super DataSource, ? extends MarkerStore> factory) {
        setting.store = Objects.requireNonNull(factory, "factory");
        return this;
    }

    /** Creates the tables, once. */
    public IdempotencyTest schema(String... statements) {
        return schema(Setup.of(statements));
    }

    /** Creates the tables, once; for migration tools. */
    public IdempotencyTest schema(Setup setup) {
        setting.schema = Objects.requireNonNull(setup, "setup");
        return this;
    }

    /** Fills the tables with what the handler finds there, before each scenario. */
    public IdempotencyTest fixture(String... statements) {
        return fixture(Setup.of(statements));
    }

    /** Fills the tables with what the handler finds there, before each scenario. */
    public IdempotencyTest fixture(Setup setup) {
        setting.fixture = Objects.requireNonNull(setup, "setup");
        return this;
    }

    /** Brings all tables, also those of the store, to their beginning; instead of emptying them, and before the fixture. */
    public IdempotencyTest reset(Setup setup) {
        setting.reset = Objects.requireNonNull(setup, "setup");
        return this;
    }

    /**
     * Columns whose values need not be equal, such as {@code paid_at} or {@code payment.paid_at}: times, random ids. Numbers that
     * the database generates, and the columns that refer to them, are left out without being named.
     */
    public IdempotencyTest ignoringColumns(String... columns) {
        setting.ignoredColumns.addAll(List.of(columns));
        return this;
    }

    /** Tables that are neither compared nor emptied. Those of Flyway and Liquibase are left alone without being named. */
    public IdempotencyTest ignoringTables(String... tables) {
        setting.ignoredTables.addAll(List.of(tables));
        return this;
    }

    /** What the names of the store's own tables begin with; default {@code idem_}. */
    public IdempotencyTest storeTables(String prefix) {
        setting.storePrefix = Objects.requireNonNull(prefix, "prefix");
        return this;
    }

    /** Delivers the messages, in this order, to the consumer's handlers. */
    public Deliveries deliver(Consumer consumer, Message... messages) {
        Objects.requireNonNull(consumer, "consumer");
        return deliver(() -> consumer, messages);
    }

    /** Makes the consumer anew for each process that starts, as a restart of the service would. */
    public Deliveries deliver(Supplier<Consumer> consumer, Message... messages) {
        return deliver(MarkerStore.class, any -> consumer.get(), messages);
    }

    /**
     * Makes the consumer anew for each process that starts, on its store: for libraries that are set up once, on {@code
     * store.dataSource()}. What {@link Deliveries#failingStatements} lets fail are the statements sent through {@link
     * dev.idem.Transaction}, and not these.
     *
     * @param type of the store, as {@link #store} makes it
     */
    public <S extends MarkerStore> Deliveries deliver(
            Class<S> type, Function<? super S, Consumer> consumer, Message... messages) {
        Objects.requireNonNull(consumer, "consumer");
        List<Message> all = List.of(messages);
        return deliveries(all.size(), store -> {
            Consumer started = consumer.apply(type.cast(store));
            return all.stream()
                    .<Delivery>map(message -> inbox -> inbox.accept(started, message))
                    .toList();
        });
    }

    /** Delivers in any other way: {@code inbox -> inbox.process("payments", message, tx -> …)}. */
    public Deliveries deliver(Delivery... deliveries) {
        List<Delivery> all = Stream.of(deliveries).toList();
        return deliveries(all.size(), any -> all);
    }

    private Deliveries deliveries(int messages, Function<MarkerStore, List<Delivery>> service) {
        setting.prepare();
        return new Deliveries(setting, new Stage(setting, service, messages));
    }

    /** Called by JUnit: every test begins with the tables as the fixture leaves them. */
    @Override
    public void beforeEach(ExtensionContext context) {
        setting.prepare();
        setting.begin();
    }

    /** One delivery of one message. */
    @FunctionalInterface
    public interface Delivery {
        Outcome<?> to(Inbox inbox) throws Exception;
    }

    /** Prepares a database. */
    @FunctionalInterface
    public interface Setup {
        void on(DataSource dataSource) throws Exception;

        /** Runs these statements, one after the other. */
        static Setup of(String... statements) {
            List<String> all = List.of(statements);
            return dataSource -> {
                try (var connection = dataSource.getConnection();
                        var statement = connection.createStatement()) {
                    for (String sql : all) {
                        statement.execute(sql);
                    }
                }
            };
        }
    }
}
