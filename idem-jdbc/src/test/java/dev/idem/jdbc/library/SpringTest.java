package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring's transactions around and inside of messages; what the guide says of REQUIRED, REQUIRES_NEW and NESTED. */
class SpringTest {
    private static final Message MESSAGE = Message.of("m", "pay".getBytes(java.nio.charset.StandardCharsets.UTF_8));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 inside a Spring transaction on store.dataSource() a message is refused, not lost")
    void insideATransactionOfTheStoresDataSource(Database database) throws Exception {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            isRefusedAndNotLost(bench, bench.inbox(), source);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 inside a Spring transaction that the store was told of a message is refused, not lost")
    void insideATransactionOfThePool(Database database) throws Exception {
        try (Bench bench = new Bench(database);
                Inbox inbox = Inbox.create(told(bench))) {
            isRefusedAndNotLost(bench, inbox, bench.pool());
        }
    }

    private static void isRefusedAndNotLost(Bench bench, Inbox inbox, DataSource source) throws SQLException {
        assertThatThrownBy(() -> transaction(source, TransactionDefinition.PROPAGATION_REQUIRED)
                        .executeWithoutResult(status -> inbox.run("payments", MESSAGE, tx -> pay(source, "1"))))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContaining("a transaction is open on this thread; use inbox.within(");
        assertThat(bench.payments()).isZero();
        assertThat(bench.markers()).isZero();
        assertThat(inbox.run("payments", MESSAGE, tx -> pay(tx.dataSource(), "1")))
                .isInstanceOf(Outcome.Processed.class);
        assertThat(bench.payments()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-21 inside a Spring transaction that nobody knows of, a consumer that must use its own refuses a handler that did not")
    void insideATransactionThatNobodyKnows(Database database) throws Exception {
        Consumer strict = Consumer.named("payments")
                .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.REFUSE))
                .build();
        try (Bench bench = new Bench(database)) {
            assertThatThrownBy(() -> transaction(bench.pool(), TransactionDefinition.PROPAGATION_REQUIRED)
                            .executeWithoutResult(status ->
                                    bench.inbox().run(strict, MESSAGE, tx -> pay(bench.pool(), "1"))))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContainingAll(
                            "payments/m",
                            "store.dataSource()",
                            "inbox.within(connection)",
                            "outerTransactions",
                            "tx.nothingToDo()");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a message that joins a Spring transaction commits with it, and what fails rolls it back")
    void joins(Database database) throws Exception {
        try (Bench bench = new Bench(database);
                Inbox inbox = Inbox.create(told(bench))) {
            inbox.register(Consumer.of("payments"));
            TransactionTemplate owner = transaction(bench.pool(), TransactionDefinition.PROPAGATION_REQUIRED);
            assertThatThrownBy(() -> owner.executeWithoutResult(status -> {
                        pay(bench.pool(), "owner");
                        assertThatThrownBy(() -> inbox.within(DataSourceUtils.getConnection(bench.pool()))
                                        .run("payments", MESSAGE, tx -> {
                                            pay(bench.pool(), "1");
                                            throw new IllegalStateException("no");
                                        }))
                                .hasMessage("no");
                    }))
                    .isInstanceOf(UnexpectedRollbackException.class);
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
            owner.executeWithoutResult(status -> {
                inbox.within(DataSourceUtils.getConnection(bench.pool()))
                        .run("payments", MESSAGE, tx -> pay(bench.pool(), "1"))
                        .confirm();
            });
            assertThat(bench.payments()).isEqualTo(1);
            assertThat(bench.markers()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "without being told of Spring, a failed message keeps its transaction on store.dataSource() from committing")
    void joinsATransactionOfTheStoresDataSource(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            bench.inbox().register(Consumer.of("payments"));
            assertThatThrownBy(() -> transaction(source, TransactionDefinition.PROPAGATION_REQUIRED)
                            .executeWithoutResult(status -> {
                                pay(source, "owner");
                                assertThatThrownBy(() -> bench.inbox()
                                                .within(DataSourceUtils.getConnection(source))
                                                .run("payments", MESSAGE, tx -> {
                                                    throw new IllegalStateException("no");
                                                }))
                                        .hasMessage("no");
                            }))
                    .isInstanceOf(TransactionSystemException.class)
                    .hasStackTraceContaining("can only be rolled back");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("inside a handler REQUIRED takes part, NESTED is a savepoint, and REQUIRES_NEW is refused")
    void propagationsInsideAHandler(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            TransactionTemplate required = transaction(source, TransactionDefinition.PROPAGATION_REQUIRED);
            assertThat(bench.deliver(
                            "1",
                            tx -> required.executeWithoutResult(status -> {
                                pay(source, "required");
                                required.executeWithoutResult(inner -> pay(source, "required inside"));
                                transaction(source, TransactionDefinition.PROPAGATION_NESTED)
                                        .executeWithoutResult(nested -> {
                                            pay(source, "undone");
                                            nested.setRollbackOnly();
                                        });
                            })))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.payments()).isEqualTo(2);

            assertThatThrownBy(() -> bench.deliver(
                            "2",
                            tx -> required.executeWithoutResult(status -> {
                                pay(source, "outer");
                                transaction(source, TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                                        .executeWithoutResult(audit -> pay(source, "audit"));
                            })))
                    .isInstanceOf(CannotCreateTransactionException.class)
                    .hasStackTraceContaining("a second transaction beside one that is open (REQUIRES_NEW, say)");
            assertThat(bench.payments()).isEqualTo(2);
            assertThat(bench.deliver(
                            "3",
                            tx -> { // one after the other is no second one
                                required.executeWithoutResult(status -> pay(source, "first"));
                                transaction(source, TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                                        .executeWithoutResult(status -> pay(source, "second"));
                            }))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.payments()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("afterCommit inside a handler comes with Spring's commit, before Idem's: it must wait for the outcome")
    void afterCommitComesBeforeIdemsCommit(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            AtomicInteger hooks = new AtomicInteger();
            assertThatThrownBy(() -> bench.deliver("1", tx -> {
                        transaction(source, TransactionDefinition.PROPAGATION_REQUIRED)
                                .executeWithoutResult(status -> {
                                    pay(source, "1");
                                    TransactionSynchronizationManager.registerSynchronization(
                                            new TransactionSynchronization() {
                                                @Override
                                                public void afterCommit() {
                                                    hooks.incrementAndGet();
                                                }
                                            });
                                });
                        throw new IllegalStateException("after Spring's commit");
                    }))
                    .hasMessage("after Spring's commit");
            assertThat(hooks).hasValue(1);
            assertThat(bench.payments()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 beside a Spring transaction that the store was told of a message joins that one and no other")
    void joinsNoOther(Database database) throws Exception {
        try (Bench bench = new Bench(database);
                Inbox inbox = Inbox.create(told(bench));
                Connection other = bench.pool().getConnection()) {
            inbox.register(Consumer.of("payments"));
            other.setAutoCommit(false);
            transaction(bench.pool(), TransactionDefinition.PROPAGATION_REQUIRED)
                    .executeWithoutResult(status -> assertThatThrownBy(() ->
                                    inbox.within(other).run("payments", MESSAGE, tx -> pay(bench.pool(), "1")))
                            .isInstanceOf(NestedProcessingException.class)
                            .hasMessageContaining("Spring's transaction"));
            assertThat(bench.payments()).isZero();
            inbox.within(other)
                    .run("payments", MESSAGE, tx -> pay(new SingleConnectionDataSource(tx.connection(), true), "1"));
            other.commit();
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 inside a Spring transaction that begins lazily, in the handler, a message is refused, not lost")
    void insideALazyTransaction(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource lazy = new LazyConnectionDataSourceProxy(bench.store().dataSource());
            assertThatThrownBy(() -> transaction(lazy, TransactionDefinition.PROPAGATION_REQUIRED)
                            .executeWithoutResult(status -> {
                                bench.deliver("1", tx -> pay(lazy, "1"));
                                status.setRollbackOnly();
                            }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("left a transaction open");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-07 a connection that Spring keeps for the thread from before the handler does not serve the handler")
    void aConnectionThatSpringKeeps(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            TransactionSynchronizationManager.initSynchronization(); // as a transaction of a broker's does
            try {
                new JdbcTemplate(source).queryForList("SELECT 1");
                assertThatThrownBy(() -> bench.deliver("1", tx -> pay(source, "1")))
                        .hasStackTraceContaining("taken before");
            } finally {
                TransactionSynchronizationManager.unbindResource(source);
                TransactionSynchronizationManager.clearSynchronization();
            }
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    private static JdbcStore told(Bench bench) {
        return JdbcStore.builder(bench.pool())
                .outerTransactions(new SpringTransactions(bench.pool()))
                .build();
    }

    private static TransactionTemplate transaction(DataSource source, int propagation) {
        TransactionTemplate template = new TransactionTemplate(new DataSourceTransactionManager(source));
        template.setPropagationBehavior(propagation);
        return template;
    }

    private static void pay(DataSource source, String order) {
        new JdbcTemplate(source).update("INSERT INTO payment (order_id) VALUES (?)", order);
    }
}
