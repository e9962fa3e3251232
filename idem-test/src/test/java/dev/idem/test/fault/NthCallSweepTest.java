package dev.idem.test.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NthCallSweepTest {
    private static final Fault[] LOUD = {
        Fault.EXCEPTION_BEFORE,
        Fault.EXCEPTION_AFTER,
        Fault.CONNECTION_LOST_BEFORE,
        Fault.CONNECTION_LOST_AFTER,
        Fault.ERROR
    };

    private TestDatabase database;
    private FaultyDataSource faulty;

    @BeforeEach
    void createDatabase() throws SQLException {
        database = new TestDatabase();
        database.execute("CREATE TABLE marker (id VARCHAR(100) PRIMARY KEY)");
        faulty = FaultyDataSource.around(database.dataSource());
    }

    @Test
    void markerAndEffectInOneTransactionSurviveEveryLoudFault() {
        NthCallSweep.Summary summary = sweep(this::processOnce).faults(LOUD).sweep();

        assertThat(summary.calls()).isEqualTo(6);
        assertThat(summary.fired())
                .containsOnlyKeys(LOUD)
                .allSatisfy((fault, fired) -> assertThat(fired).isEqualTo(6));
        assertThat(summary.faultsFired()).isEqualTo(30);
        assertThat(summary.cases())
                .as("each kind ends with a run it is too late for")
                .isEqualTo(35);
    }

    @Test
    void aSampleHasEachNthCallAndStillEndsWhenTheFaultComesTooLate() {
        NthCallSweep.Summary summary =
                sweep(this::processOnce).faults(Fault.ERROR).every(4, 2).sweep();

        assertThat(summary.faultsFired()).as("at calls 2 and 6 of 6").isEqualTo(2);
        assertThat(summary.cases()).isEqualTo(3);
        assertThatThrownBy(() -> NthCallSweep.over(faulty).every(4, 5)).hasMessageContaining("first 5");
        assertThatThrownBy(() -> sweep(this::markFirstThenAct)
                        .faults(Fault.ERROR)
                        .every(2, 2)
                        .sweep())
                .hasMessageStartingWith("ERROR at call 4 (execute INSERT INTO effect");
    }

    @Test
    void findsThatACommitIsTrustedWithoutProof() {
        assertThatThrownBy(() -> sweep(this::processOnce).sweep())
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("SILENT_ROLLBACK at call 4 (execute INSERT INTO effect VALUES ('m'))")
                .hasMessageContaining("> 4 execute INSERT INTO effect")
                .hasMessageContaining("  5 commit");
    }

    @Test
    void findsThatTheMarkerIsWrittenInATransactionOfItsOwn() {
        assertThatThrownBy(
                        () -> sweep(this::markFirstThenAct).faults(Fault.ERROR).sweep())
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("ERROR at call 4 (execute INSERT INTO effect");
    }

    @Test
    void anAcknowledgedMessageIsCheckedBeforeTheRecoveryCanHideItsLoss() {
        assertThatThrownBy(() -> sweep(this::processOnce)
                        .faults(Fault.SILENT_ROLLBACK)
                        .check(() -> assertThat(database.effects()).isPositive())
                        .sweep())
                .hasMessageStartingWith("SILENT_ROLLBACK at call 5 (commit): check before recovery failed");
    }

    @Test
    void goesOnUntilTheFaultComesTooLate() {
        var runs = new AtomicInteger();
        NthCallSweep.Summary summary = NthCallSweep.over(faulty)
                .faults(Fault.EXCEPTION_AFTER)
                .run(() -> {
                    if (runs.incrementAndGet() == 1) {
                        statements("SELECT 1");
                    } else {
                        statements("SELECT 1", "SELECT 2", "SELECT 3");
                    }
                })
                .sweep();

        assertThat(summary.calls()).as("of the first run").isEqualTo(3);
        assertThat(summary.faultsFired()).as("at the calls of the later ones").isEqualTo(5);
        assertThat(runs).hasValue(1 + 6);
    }

    @Test
    void doesNotTakeOtherErrorsForTheFault() {
        var runs = new AtomicInteger();
        assertThatThrownBy(() -> NthCallSweep.over(faulty)
                        .run(() -> {
                            runs.incrementAndGet();
                            try {
                                statements("SELECT 1");
                            } catch (SQLException injected) {
                                throw new AssertionError("must not fail", injected);
                            }
                        })
                        .sweep())
                .hasMessageStartingWith("EXCEPTION_BEFORE at call 1 (getConnection): run failed")
                .hasRootCauseInstanceOf(SQLException.class);
        assertThat(runs).hasValue(2);
    }

    @Test
    void failsWithoutAFaultAndWithoutCalls() {
        assertThatThrownBy(() -> NthCallSweep.over(faulty).sweep()).hasMessageContaining("no call");
        assertThatThrownBy(() -> NthCallSweep.over(faulty)
                        .run(() -> statements("SELECT nothing"))
                        .sweep())
                .hasMessageStartingWith("Without a fault: run failed");
    }

    private interface Delivery {
        void run() throws SQLException;
    }

    private NthCallSweep sweep(Delivery delivery) {
        return NthCallSweep.over(faulty)
                .reset(() -> database.execute("DELETE FROM effect; DELETE FROM marker"))
                .deliver(() -> {
                    delivery.run();
                    return true;
                })
                .recover(delivery::run)
                .check(() -> assertThat(database.effects()).isEqualTo(1));
    }

    private void processOnce() throws SQLException {
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            if (statement.executeUpdate("MERGE INTO marker USING (VALUES 'm') v(id) ON marker.id = v.id"
                            + " WHEN NOT MATCHED THEN INSERT VALUES (v.id)")
                    == 1) {
                statement.execute("INSERT INTO effect VALUES ('m')");
            }
            connection.commit();
        }
    }

    private void markFirstThenAct() throws SQLException {
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet seen = statement.executeQuery("SELECT 1 FROM marker WHERE id = 'm'")) {
                if (seen.next()) {
                    return;
                }
            }
            statement.execute("INSERT INTO marker VALUES ('m')");
            statement.execute("INSERT INTO effect VALUES ('m')");
        }
    }

    private void statements(String... texts) throws SQLException {
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            for (String text : texts) {
                statement.execute(text);
            }
        }
    }
}
