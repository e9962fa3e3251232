package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Handlers that throw, nest, or do their work elsewhere. */
class HandlerFailureTest {
    static Stream<Throwable> throwables() {
        return Stream.of(
                new IOException("checked"),
                new Exception("checked"),
                new IllegalStateException("unchecked"),
                new AssertionError("error"),
                new NoClassDefFoundError("linkage"),
                new OutOfMemoryError("virtual machine"),
                new StackOverflowError("virtual machine"),
                new InterruptedException("interrupt"));
    }

    @ParameterizedTest
    @MethodSource("throwables")
    @Tag("second-pass")
    @DisplayName(
            "HX-02 HX-03 HX-05 whatever a handler throws passes through, nothing is left, and the message can come again")
    void whateverIsThrownRollsBack(Throwable failure) throws Exception {
        for (Database database : Database.values()) {
            try (Db db = Db.fresh(database);
                    Inbox inbox = db.inbox(db.pool(1))) {
                assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                            Db.pay(tx.connection(), "1");
                            sneak(failure);
                        }))
                        .isSameAs(failure);
                assertThat(db.payments()).isZero();
                assertThat(db.markers()).isZero();
                assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                        .isInstanceOf(Outcome.Processed.class);
            }
        }
    }

    @Test
    @DisplayName("HX-02 a handler that really overflows the stack is rolled back")
    void arealStackOverflowRollsBack() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(1))) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        overflow(0);
                    }))
                    .isInstanceOf(StackOverflowError.class);
            assertThat(db.payments()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-03 an interrupt is not an attempt, and the flag is restored")
    void anInterruptIsNotAnAttempt(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Consumer consumer = Consumer.named("payments")
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), "1");
                        Thread.currentThread().interrupt();
                        throw new InterruptedException("stop");
                    })
                    .build();
            Outcome<?> outcome = inbox.accept(consumer, Db.message("1"));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-03 a thread that is already interrupted runs the message whole or not at all, and keeps its flag")
    void anInterruptedThreadKeepsItsFlag(Database database) {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            Thread.currentThread().interrupt();
            Throwable refused =
                    catchThrowable(() -> inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")));
            assertThat(Thread.interrupted()).isTrue();
            if (refused != null) {
                assertThat(refused).isInstanceOf(StoreException.class);
            }
            assertThat(db.payments()).isEqualTo(refused == null ? 1 : 0);
            assertThat(db.markers()).isEqualTo(db.payments());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName(
            "PC-17 a message inside itself is refused at once; from a second thread or process it is busy in bounded time")
    void aMessageInsideItselfIsRefused(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .policy(Policy.defaults().withBusyWait(Duration.ofMillis(200)))
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox();
                Inbox elsewhere = db.inbox()) {
            assertThat(inbox.process(consumer, Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        assertThatThrownBy(() -> inbox.process(consumer, Db.message("1"), again -> "never"))
                                .isInstanceOf(NestedProcessingException.class);
                        assertThatThrownBy(() -> inbox.process(consumer, Db.message("2"), again -> "never"))
                                .isInstanceOf(NestedProcessingException.class);
                        assertThat(Together.get(Together.start(
                                        () -> inbox.process(consumer, Db.message("1"), again -> "never"))))
                                .isInstanceOf(Outcome.Busy.class);
                        assertThat(elsewhere.process(consumer, Db.message("1"), again -> "never"))
                                .isInstanceOf(Outcome.Busy.class);
                        return "once";
                    }))
                    .isEqualTo(new Outcome.Processed<>("once"));
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-21 a handler whose effects are elsewhere is refused, or only told of if the consumer says so")
    void anUnusedTransactionIsTold(Database database) throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        try (Db db = Db.fresh(database);
                CapturedLog log = CapturedLog.of(Inbox.class);
                Inbox inbox = Inbox.builder(db.store())
                        .listener(new InboxListener() {
                            @Override
                            public void transactionUnused(String consumer) {
                                told.add(consumer);
                            }
                        })
                        .build()) {
            Consumer mail = Consumer.named("mail")
                    .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.WARN))
                    .build();
            for (String id : List.of("1", "2")) {
                assertThat(inbox.run(mail, Db.message(id), tx -> {
                            try (Connection other = db.plain().getConnection()) {
                                Db.pay(other, id);
                            }
                        }))
                        .isInstanceOf(Outcome.Processed.class);
            }
            org.awaitility.Awaitility.await().until(() -> told.equals(List.of("mail", "mail")));
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("mail: ")
                    .contains("tx.connection()");
            assertThatThrownBy(() -> inbox.process("billing", Db.message("3"), tx -> "elsewhere"))
                    .isInstanceOf(BrokenTransactionException.class);
            assertThat(db.markers()).isEqualTo(2);
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Throwable failure) throws X {
        throw (X) failure;
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }
}
