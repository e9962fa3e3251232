package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.DatabaseServer;
import dev.idem.servers.MariaDbServer;
import dev.idem.servers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An inbox is closed while its handlers, or its database, do not answer. */
class CloseTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger entered = new AtomicInteger();

    @AfterEach
    void letThemGo() {
        end.countDown();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("OP-01 what a handler holds that does not end is free for others when its inbox is closed")
    void freeForOthers(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            HikariDataSource pool = db.pool(6);
            Inbox closed = Inbox.builder(db.store(pool)).drain(Duration.ZERO).build();
            Consumer hanging = consumer(true);
            closed.acceptAll(hanging, messages(10));
            closed.start(hanging);
            await().atMost(PATIENCE).until(() -> entered.get() == 1);
            closed.close();
            await().atMost(PATIENCE).until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
            try (Inbox other = db.inbox(db.pool(6))) {
                other.start(consumer(false));
                await().atMost(PATIENCE).until(() -> db.payments() == 10);
                end.countDown(); // the late handler can neither commit nor write
                await().atMost(PATIENCE).until(() -> entered.get() == 2);
                assertThat(db.payments()).isEqualTo(10);
                assertThat(db.payments("m0")).isEqualTo(1);
                assertThat(db.number("SELECT count(*) FROM idem_attempt"))
                        .as("failures")
                        .isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("OP-01 an inbox can be closed while its database is frozen")
    void frozenDatabase(Database database) throws Exception {
        try (DatabaseServer server = database == Database.POSTGRESQL ? PostgresServer.start() : MariaDbServer.start();
                Db db = Db.at(database, server.jdbcUrl(server.createDatabase()))) {
            for (QueuePolicy policy :
                    List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(Duration.ofMillis(300)))) {
                Inbox inbox = Inbox.builder(db.store(db.pool(6)))
                        .drain(Duration.ofMillis(500))
                        .build();
                Consumer consumer = Consumer.named("payments")
                        .queued(policy.withPoll(Duration.ofMillis(20)).withWorkers(2))
                        .otherwise((message, tx) -> {
                            Db.pay(tx.connection(), message.id().orElseThrow());
                            entered.incrementAndGet();
                            TimeUnit.MILLISECONDS.sleep(50);
                            return null;
                        })
                        .build();
                inbox.acceptAll(consumer, messages(200));
                inbox.start(consumer);
                int before = entered.get();
                await().atMost(PATIENCE).until(() -> entered.get() > before + 2);
                server.pause();
                try {
                    TimeUnit.MILLISECONDS.sleep(700); // whoever renews or looks waits for an answer by now
                    assertTimeoutPreemptively(PATIENCE, inbox::close);
                } finally {
                    server.resume();
                }
            }
        }
    }

    private Consumer consumer(boolean hangs) {
        return Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withWorkers(1))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    if (hangs) {
                        entered.incrementAndGet();
                        hang();
                        try {
                            Db.pay(tx.connection(), "late");
                        } finally {
                            entered.incrementAndGet();
                        }
                    }
                    return null;
                })
                .build();
    }

    private void hang() {
        boolean ended = false;
        while (!ended) {
            try {
                ended = end.await(1, TimeUnit.SECONDS);
            } catch (InterruptedException ignored) {
                // that is what makes it stuck
            }
        }
    }

    private static List<Message> messages(int count) {
        return IntStream.range(0, count).mapToObj(i -> Db.message("m" + i)).toList();
    }
}
