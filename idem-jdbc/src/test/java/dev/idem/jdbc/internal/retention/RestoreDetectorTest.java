package dev.idem.jdbc.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.StoreException;
import dev.idem.StoreReplacedException;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcRecovery;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.StoreWitness;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a store says of itself, and what tables that were restored do not know any more. */
class RestoreDetectorTest {
    private static RestoreDetector witness(Db db) {
        return new RestoreDetector(db.plain(), db.tables(), Duration.ofHours(1));
    }

    private static RestoreDetector begun(Db db) {
        RestoreDetector witness = witness(db);
        assertThat(witness.testimony()).isEmpty();
        witness.confirm(List.of());
        return witness;
    }

    private static void backup(Db db) {
        db.execute("CREATE TABLE backup AS SELECT * FROM idem_witness");
    }

    private static void restore(Db db) {
        db.execute("DELETE FROM idem_witness", "INSERT INTO idem_witness SELECT * FROM backup");
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-05 what was said is known to every process, for as long as the tables are not restored")
    void known(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.store();
            try (RestoreDetector first = begun(db);
                    RestoreDetector second = begun(db)) {
                String early = first.testimony().orElseThrow();
                assertThat(early).hasSizeLessThan(200).isPrintable();
                first.tick();
                first.tick();
                second.confirm(List.of(early, first.testimony().orElseThrow(), "", "by another tool", "idem1 x y 1 2"));
            }
            begun(db).confirm(List.of());
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-05 tables of an earlier state know neither later numbers nor later processes, however long they go on")
    void restored(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.store();
            try (RestoreDetector first = begun(db)) {
                first.tick();
                String before = first.testimony().orElseThrow();
                backup(db);
                first.tick();
                String after = first.testimony().orElseThrow();
                RestoreDetector late = begun(db);
                String later = late.testimony().orElseThrow();
                restore(db);

                RestoreDetector next = witness(db);
                for (int i = 0; i < 10; i++) {
                    next.confirm(List.of(before));
                    next.tick();
                }
                for (String lost : List.of(after, later)) {
                    assertThatThrownBy(() -> next.confirm(List.of(before, lost)))
                            .isInstanceOf(StoreReplacedException.class)
                            .hasMessageContaining("older than the offsets")
                            .hasMessageContaining("last sign of life")
                            .hasMessageContaining("accept-loss")
                            .hasMessageContaining("In development, where the tables were made anew on purpose")
                            .hasMessageContaining("trustOffsets(true)");
                }
                assertThat(first.testimony()).contains(after);
                first.tick(); // a process that was running meanwhile finds out by itself
                assertThatThrownBy(first::testimony).isInstanceOf(StoreReplacedException.class);
                late.tick();
                assertThatThrownBy(late::testimony).isInstanceOf(StoreReplacedException.class);

                JdbcRecovery.of(JdbcSchema.of(db.plain())).acceptLoss("anna", "nothing is missed");
                next.confirm(List.of(after, later));
                first.confirm(List.of(after)); // also in the process that found out, it goes on
                assertThat(first.testimony()).isPresent();
                first.tick();
                next.confirm(List.of(first.testimony().orElseThrow()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-05 tables that were made anew are others; ones that were copied whole are the same")
    void madeAnew(Database database) {
        try (Db db = Db.fresh(database);
                Db other = Db.fresh(database)) {
            db.store();
            other.store();
            StoreWitness witness = begun(db);
            String said = witness.testimony().orElseThrow();
            assertThatThrownBy(() -> witness(other).confirm(List.of(said)))
                    .isInstanceOf(StoreReplacedException.class)
                    .hasMessageContaining("created anew");
            String inbox = db.text("SELECT inbox_id FROM idem_meta");
            String process = said.split(" ")[2];
            other.execute("UPDATE idem_meta SET inbox_id = '" + inbox + "'");
            other.execute("INSERT INTO idem_witness (process, tick, seen_at) VALUES ("
                    + (database == Database.MARIADB ? "UNHEX('" + process.replace("-", "") + "')" : "'" + process + "'")
                    + ", 0, 1)");
            witness(other).confirm(List.of(said));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a database that is away is no lost store; a number whose answer was lost is said again")
    void away(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.store();
            RestoreDetector witness = begun(db);
            String said = witness.testimony().orElseThrow();
            db.execute("UPDATE idem_witness SET tick = tick + 1"); // committed, and nobody heard of it
            witness.tick();
            assertThat(witness.testimony().orElseThrow()).isNotEqualTo(said);
            db.execute("ALTER TABLE idem_meta RENAME TO elsewhere");
            assertThatThrownBy(() -> witness.confirm(List.of(said))).isInstanceOf(StoreException.class);
            assertThatThrownBy(witness::tick).isInstanceOf(java.sql.SQLException.class);
            assertThat(witness.testimony()).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("the row of a process that is long gone is removed, and what it said proves nothing any more")
    void forgotten(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            String said = begun(db).testimony().orElseThrow();
            db.execute("UPDATE idem_witness SET seen_at = seen_at - " + (CheckpointRows.KEEP + 1_000_000_000L));
            begun(db);
            assertThat(db.number("SELECT count(*) FROM idem_witness")).isEqualTo(1);
            assertThatThrownBy(() -> witness(db).confirm(List.of(said))).isInstanceOf(StoreReplacedException.class);
            String[] parts = said.split(" ");
            long ago = Long.parseLong(parts[4]) - CheckpointRows.KEEP - 1_000_000_000L;
            witness(db).confirm(List.of(String.join(" ", parts[0], parts[1], parts[2], parts[3], "" + ago)));
        }
    }
}
