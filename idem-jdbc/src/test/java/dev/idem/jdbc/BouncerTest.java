package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.PgBouncer;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** PgBouncer in transaction mode: each transaction may meet another server connection. */
@ExtendWith(SkipWithoutServer.class)
class BouncerTest {
    private static PgBouncer bouncer;

    @BeforeAll
    static void start() {
        bouncer = PgBouncer.start(PostgresServer.shared(), "transaction", 3);
    }

    @AfterAll
    static void stop() {
        if (bouncer != null) {
            bouncer.close();
        }
    }

    @Test
    @DisplayName("PG-22 concurrent duplicates through PgBouncer are processed once")
    void concurrentDuplicatesAreProcessedOnce() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox one = db.inbox(db.pool(8, Db.plain(through(db))));
                Inbox two = db.inbox(db.pool(8, Db.plain(through(db))))) {
            int messages = 60;
            Together.run(12, i -> {
                for (int m = 0; m < messages; m++) {
                    String id = "m" + (m + i) % messages;
                    Outcome<?> outcome =
                            (i % 2 == 0 ? one : two).run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id));
                    assertThat(outcome).isInstanceOfAny(Outcome.Processed.class, Outcome.Duplicate.class);
                }
                return null;
            });
            assertThat(db.payments()).isEqualTo(messages);
            assertThat(db.number("SELECT count(DISTINCT order_id) FROM payment"))
                    .isEqualTo(messages);
        }
    }

    @Test
    @DisplayName("PG-22 failures through PgBouncer leave nothing, and no setting stays on a server connection")
    void noSettingStays() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(Db.plain(through(db)))) {
            for (int i = 0; i < 6; i++) {
                String id = "m" + i;
                try {
                    inbox.run("payments", Db.message(id), tx -> {
                        Db.pay(tx.connection(), id);
                        throw new IllegalStateException("no");
                    });
                } catch (IllegalStateException expected) {
                    inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id));
                }
                assertThat(inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id)))
                        .isInstanceOf(Outcome.Duplicate.class);
            }
            assertThat(db.payments()).isEqualTo(6);
            Together.run(3, i -> {
                try (Connection connection = Db.plain(through(db)).getConnection();
                        Statement statement = connection.createStatement()) {
                    connection.setAutoCommit(false); // three transactions at once see all three server connections
                    ResultSet rows = statement.executeQuery(
                            "SELECT current_setting('lock_timeout') || coalesce(current_setting('idem.lock_timeout', true), ''),"
                                    + " pg_sleep(0.3)");
                    rows.next();
                    assertThat(rows.getString(1)).isEqualTo("0");
                    connection.rollback();
                }
                return null;
            });
        }
    }

    @Test
    @DisplayName("PG-22 statements the driver prepares by name are told with the option that switches them off")
    void theOptionIsNamed() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            String url = through(db).replace("prepareThreshold=0", "prepareThreshold=1");
            AtomicReference<Throwable> seen = new AtomicReference<>();
            for (int i = 0; i < 20 && seen.get() == null; i++) {
                String id = "m" + i;
                try (Inbox inbox = db.inbox(Db.plain(url))) {
                    inbox.run("payments", Db.message(id), Transaction::nothingToDo);
                } catch (IdemException failure) {
                    seen.set(failure);
                }
            }
            assertThat(seen.get()).hasMessageContaining("prepareThreshold=0");
        }
    }

    private static String through(Db db) {
        return bouncer.jdbcUrl(db.text("SELECT current_database()"));
    }
}
