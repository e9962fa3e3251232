package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The time a marker carries. */
class MarkerTimeTest {
    @Test
    @DisplayName("PG-21 a marker in a long transaction carries the clock's time, not the transaction's start")
    void theClockAndNotTheTransaction() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = Inbox.create(db.store());
                Connection outer = db.plain().getConnection()) {
            inbox.register(Consumer.of("payments"));
            outer.setAutoCommit(false);
            try (Statement statement = outer.createStatement()) {
                statement.execute("SELECT now(), pg_sleep(0.2)"); // the database's own clock, moved by the database
                inbox.within(outer).process("payments", InlineTest.message("1", ""), tx -> "done");
                try (ResultSet later =
                        statement.executeQuery("SELECT marked_at >= now() + interval '0.2 s' FROM idem_marker")) {
                    later.next();
                    assertThat(later.getBoolean(1)).isTrue();
                }
            }
            outer.rollback();
        }
    }

    @Test
    @DisplayName("MY-09 markers have microseconds, so that two of one second can be told apart")
    void microseconds() {
        try (Db db = Db.fresh(Database.MARIADB)) {
            db.store();
            assertThat(db.number(
                            "SELECT datetime_precision FROM information_schema.columns WHERE table_schema = DATABASE()"
                                    + " AND table_name = 'idem_marker' AND column_name = 'marked_at'"))
                    .isEqualTo(6);
        }
    }
}
