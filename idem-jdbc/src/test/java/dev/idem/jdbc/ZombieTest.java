package dev.idem.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread that outlives its handler must never reach the transaction of the next message. */
class ZombieTest {
    private static final Duration SOON = Duration.ofMillis(300);

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("PC-24 a handler that timed out and ignores interrupts can write nothing any more")
    void aLateHandlerWritesNothing(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(1))) {
            AtomicReference<Throwable> refused = new AtomicReference<>();
            assertThatThrownBy(() -> inbox.process(timingOut("payments"), Db.message("late"), tx -> {
                        Connection connection = tx.connection();
                        Db.pay(connection, "late");
                        untilInterrupted();
                        for (int i = 0; i < 3; i++) {
                            refused.set(writing(() -> Db.pay(connection, "zombie")));
                        }
                        return null;
                    }))
                    .isInstanceOf(HandlerTimeoutException.class)
                    .hasMessageContaining("payments/late");
            assertThat(refused.get())
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("This transaction has ended");
            assertThat(Thread.interrupted()).as("our interrupt is taken back").isFalse();
            assertThat(inbox.run("payments", Db.message("next"), tx -> Db.pay(tx.connection(), "next")))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments("next")).isEqualTo(1);
            assertThat(db.payments()).isEqualTo(1);
            assertThat(inbox.run("payments", Db.message("late"), tx -> Db.pay(tx.connection(), "late")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @Tag("second-pass")
    @DisplayName("PC-24 HX-01 what a stray thread kept of the connection is useless in the next message's transaction")
    void aStrayThreadCannotWriteIntoTheNextTransaction(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Connection only = db.plain().getConnection();
            // The worst pool: one connection that is never reset, so nothing but the guard protects it.
            try (Inbox inbox = db.inbox(reusing(only))) {
                List<Writing> stray = new ArrayList<>();
                inbox.run("payments", Db.message("1"), tx -> {
                    Connection connection = tx.connection();
                    Connection closable = tx.dataSource().getConnection();
                    PreparedStatement prepared =
                            connection.prepareStatement("INSERT INTO payment (order_id) VALUES ('zombie')");
                    stray.add(() -> Db.pay(connection, "zombie"));
                    stray.add(() -> Db.pay(closable, "zombie"));
                    stray.add(prepared::executeUpdate);
                    stray.add(() -> prepared.getConnection().createStatement());
                    stray.add(() -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE));
                    stray.add(() -> connection.setSavepoint("x"));
                    stray.add(connection::commit);
                    stray.add(connection::rollback);
                    Db.pay(connection, "1");
                });
                inbox.run("payments", Db.message("2"), tx -> {
                    Db.pay(tx.connection(), "2");
                    for (Writing write : stray) {
                        assertThat(Together.get(Together.start(() -> writing(write))))
                                .isInstanceOf(SQLException.class);
                    }
                });
                assertThat(db.payments("zombie")).isZero();
                assertThat(db.payments()).isEqualTo(2);
                assertThat(db.markers()).isEqualTo(2);
            } finally {
                only.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-24 a unit that was torn down leaves nothing on its connection, whatever driver and pool do")
    void aTornDownUnitLeavesNothingOnItsConnection(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            AtomicReference<Connection> only = new AtomicReference<>(db.plain().getConnection());
            JdbcStore store = db.store(new UnitDataSource(() -> {
                if (only.get().isClosed()) {
                    only.set(db.plain().getConnection());
                }
                only.get().setAutoCommit(true); // as a pool may do, and would commit what is left
                return reusing(only.get()).getConnection();
            }));
            try (UnitOfWork late = claim(store, "late")) {
                Db.pay(late.connection(), "late");
                late.abandon();
                late.rollback();
            }
            try (UnitOfWork next = claim(store, "next")) {
                Db.pay(next.connection(), "next");
                next.revoke();
                next.commit(null);
            }
            assertThat(db.payments("late")).isZero();
            assertThat(db.payments("next")).isEqualTo(1);
            assertThat(db.markers()).isEqualTo(1);
            only.get().close();
        }
    }

    private static UnitOfWork claim(JdbcStore store, String id) {
        MarkerKey key = new MarkerKey("payments", UUID.nameUUIDFromBytes(id.getBytes(UTF_8)), id);
        Claim claim = store.claim(new ClaimRequest(key, null, Duration.ZERO, false));
        return ((Claim.Granted) claim).unit();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-24 HX-01 stray threads that write at the moment of return are in the message's transaction or nowhere")
    void writesAtTheMomentOfReturnAreInOrNowhere(Database database) throws Exception {
        int messages = 40;
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(1))) {
            AtomicInteger written = new AtomicInteger();
            for (int i = 0; i < messages; i++) {
                String id = "m" + i;
                AtomicBoolean stop = new AtomicBoolean();
                AtomicReference<Future<Integer>> stray = new AtomicReference<>();
                inbox.run("payments", Db.message(id), tx -> {
                    Connection connection = tx.connection();
                    CountDownLatch first = new CountDownLatch(1);
                    stray.set(Together.start(() -> writeUntilRefused(connection, id, first, stop)));
                    Together.await(first);
                });
                stop.set(true);
                written.addAndGet(Together.get(stray.get()));
            }
            assertThat(db.markers()).isEqualTo(messages);
            // What a stray thread was told is written, is written; with the message it belongs to, and never otherwise.
            assertThat(db.payments()).isEqualTo(written.get());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-24 closing a statement that took effect is not refused, however late")
    void closingIsNeverRefused(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            Connection only = db.plain().getConnection();
            CountDownLatch inCall = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            AtomicReference<Future<Throwable>> closing = new AtomicReference<>();
            try (Inbox inbox = db.inbox(reusing(only, () -> {
                inCall.countDown();
                Together.await(goOn);
            }))) {
                inbox.run("payments", Db.message("1"), tx -> {
                    Connection connection = tx.connection();
                    PreparedStatement paid = connection.prepareStatement("INSERT INTO payment (order_id) VALUES ('1')");
                    paid.executeUpdate();
                    Together.start(connection::getHoldability); // a call that lasts beyond the handler's return
                    Together.await(inCall);
                    AtomicReference<Thread> closer = new AtomicReference<>();
                    closing.set(Together.start(() -> {
                        closer.set(Thread.currentThread());
                        return writing(paid::close);
                    }));
                    while (closer.get() == null || closer.get().getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                    Together.start(() -> {
                        while (!connection.isClosed()) {
                            Thread.onSpinWait();
                        }
                        goOn.countDown();
                        return null;
                    });
                });
                assertThat(Together.get(closing.get())).isNull();
                assertThat(db.payments("1")).isEqualTo(1);
            } finally {
                only.close();
            }
        }
    }

    private static int writeUntilRefused(Connection connection, String id, CountDownLatch first, AtomicBoolean stop) {
        int written = 0;
        while (!stop.get()) {
            if (writing(() -> Db.pay(connection, id)) != null) {
                return written;
            }
            written++;
            first.countDown();
        }
        return written;
    }

    private static Consumer timingOut(String name) {
        return Consumer.named(name)
                .policy(Policy.defaults().withHandlerTimeout(SOON))
                .build();
    }

    /** Gives out one connection again and again, as it was left. */
    private static DataSource reusing(Connection only) {
        return reusing(only, () -> {});
    }

    /** @param slow what happens while its holdability is read */
    private static DataSource reusing(Connection only, Writing slow) {
        return new UnitDataSource(() -> Guard.proxy(Connection.class, (proxy, method, args) -> {
            if (method.getName().equals("close")) {
                return null;
            }
            if (method.getName().equals("getHoldability")) {
                slow.run();
            }
            try {
                return method.invoke(only, args);
            } catch (java.lang.reflect.InvocationTargetException failure) {
                throw failure.getTargetException();
            }
        }));
    }

    private static void untilInterrupted() {
        CountDownLatch never = new CountDownLatch(1);
        try {
            Together.await(never);
        } catch (InterruptedException ignored) {
            // goes on, as bad handlers do
        }
    }

    private static Throwable writing(Writing write) {
        try {
            write.run();
            return null;
        } catch (Throwable refused) {
            return refused;
        }
    }

    @FunctionalInterface
    private interface Writing {
        void run() throws Exception;
    }
}
