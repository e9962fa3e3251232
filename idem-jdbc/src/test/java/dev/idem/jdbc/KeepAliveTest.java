package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.queue.QueuePolicy;
import dev.idem.test.fault.ForkedJvm;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service is a {@code main} that starts its workers and returns. */
class KeepAliveTest {
    private static final Duration LONGEST = Duration.ofSeconds(60);

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void workersKeepTheProcessAliveUntilTheInboxIsClosed(String threads) throws Exception {
        try (ForkedJvm service = ForkedJvm.start(Service.class, threads)) {
            service.waitForLine("ACK, handled after main had returned"::equals, LONGEST);
            assertThat(service.waitForExit(LONGEST)).isZero();
        }
    }

    @Test
    void anInboxWithoutWorkersDoesNot() throws Exception {
        try (ForkedJvm program = ForkedJvm.start(Program.class)) {
            assertThat(program.waitForExit(LONGEST)).isZero();
            assertThat(program.lines()).contains("Processed");
        }
    }

    private static JdbcDataSource database() {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:service;DB_CLOSE_DELAY=-1");
        return database;
    }

    /** Everything after its start happens on a thread that does not keep the process alive. */
    static final class Service {
        public static void main(String[] args) {
            QueuePolicy policy = QueuePolicy.inTransaction();
            CountDownLatch handled = new CountDownLatch(1);
            Consumer consumer = Consumer.named("payments")
                    .queued(args[0].equals("virtual") ? policy.withVirtualThreads() : policy)
                    .otherwise((message, tx) -> {
                        tx.nothingToDo();
                        handled.countDown();
                    })
                    .build();
            Inbox inbox = Inbox.create(JdbcStore.create(database()));
            inbox.start(consumer);
            Thread main = Thread.currentThread();
            Thread later = new Thread(() -> {
                try {
                    main.join();
                    Outcome<?> outcome = inbox.accept(consumer, Message.of("m", new byte[] {1}));
                    handled.await();
                    System.out.println(outcome.settlement() + ", handled after main had returned");
                    inbox.close();
                } catch (InterruptedException stop) {
                    System.out.println("interrupted");
                }
            });
            later.setDaemon(true);
            later.start();
        }
    }

    /** Forgets even to close it. */
    static final class Program {
        public static void main(String[] args) {
            Inbox inbox = Inbox.create(JdbcStore.create(database()));
            Outcome<?> outcome = inbox.run("payments", Message.of("m", new byte[] {1}), tx -> tx.nothingToDo());
            System.out.println(outcome.getClass().getSimpleName());
        }
    }
}
