package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.PgBouncer;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random batches under options of drivers, servers and pools that change what a call answers. */
@Tag("second-pass")
class BatchOptionsTest {
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "POSTGRESQL, reWriteBatchedInserts=true",
        "POSTGRESQL, autosave=always",
        "POSTGRESQL, autosave=always&cleanupSavepoints=true",
        "POSTGRESQL, autosave=conservative",
        "POSTGRESQL, prepareThreshold=1",
        "POSTGRESQL, prepareThreshold=-1",
        "POSTGRESQL, preferQueryMode=simple",
        "POSTGRESQL, preferQueryMode=extendedForPrepared",
        "POSTGRESQL, options=-c%20default_transaction_isolation=repeatable\\ read",
        "POSTGRESQL, options=-c%20default_transaction_isolation=serializable",
        "MARIADB, sessionVariables=tx_isolation='READ-COMMITTED'",
        "MARIADB, sessionVariables=tx_isolation='SERIALIZABLE'",
        "MARIADB, useServerPrepStmts=true",
        "MARIADB, useAffectedRows=true",
        "MARIADB, useBulkStmts=true",
        "H2, LOCK_TIMEOUT=100"
    })
    @DisplayName("PG-14 PG-03 MY-04 no option changes what becomes of a batch")
    void noOptionChangesABatch(Database database, String option) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(2, option))) {
            play(db, inbox, inbox);
        }
    }

    @Test
    @ExtendWith(SkipWithoutServer.class)
    @DisplayName("PG-22 batches go through PgBouncer in transaction mode")
    void throughPgBouncer() throws Exception {
        try (PgBouncer bouncer = PgBouncer.start(PostgresServer.shared(), "transaction", 3);
                Db db = Db.fresh(Database.POSTGRESQL)) {
            String url = bouncer.jdbcUrl(db.text("SELECT current_database()"));
            try (Inbox one = db.inbox(Db.plain(url));
                    Inbox two = db.inbox(db.pool(2, Db.plain(url)))) {
                play(db, one, two);
            }
        }
    }

    /** Two processes take turns, so that each meets what the other has done. */
    private static void play(Db db, Inbox one, Inbox two) throws Exception {
        long seed = Long.getLong("idem.batch.seed", System.nanoTime());
        BatchWorld world = new BatchWorld(db);
        Random random = new Random(seed);
        BatchStream stream = new BatchStream(world, random, "o-", 30, 45);
        Consumer consumer = world.consumer(Policy.defaults().withBatchLimits(1 + random.nextInt(12), 1_000));
        try {
            Together.run(2, i -> {
                stream.drain(new Random(seed + i), i == 0 ? one : two, consumer);
                return null;
            });
            stream.check();
            assertThat(db.markers()).isEqualTo(db.number("SELECT count(*) FROM effect"));
        } catch (AssertionError | Exception failure) {
            throw new AssertionError("repeat with -Didem.batch.seed=" + seed + "\n" + stream, failure);
        }
    }
}
