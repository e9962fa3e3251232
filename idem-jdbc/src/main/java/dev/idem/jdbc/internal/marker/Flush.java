package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.guard.RunningStatement;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends deferred statements, all or none. When a step fails, its statements are tried in halves, and the halves in halves,
 * until the guilty ones stand alone: which of a batch failed is not told alike by all drivers, and by some not at all.
 */
final class Flush {
    private final Connection connection;
    private final SqlFaults faults;
    private final RunningStatement running;

    /** @param running what can be cancelled, by whoever has no more time for it */
    Flush(Connection connection, SqlFaults faults, RunningStatement running) {
        this.connection = connection;
        this.faults = faults;
        this.running = running;
    }

    /** Empty when all were sent; else whose failed, and why, and nothing is sent. */
    Map<UnitOfWork, Throwable> send(Deferred<BatchPart> deferred) throws SQLException {
        Map<UnitOfWork, Throwable> failed = new LinkedHashMap<>();
        List<Deferred.Step<BatchPart>> steps = deferred.steps();
        Savepoint before = connection.setSavepoint();
        for (int i = 0; i < steps.size() && failed.isEmpty(); i++) {
            if (!sent(steps.get(i))) {
                connection.rollback(before);
                for (Deferred.Step<BatchPart> passed : steps.subList(0, i)) {
                    send(passed);
                }
                search(steps.get(i), failed);
                if (!failed.isEmpty()) { // else it went well this time, and everything is sent again
                    connection.rollback(before);
                }
            }
        }
        if (failed.isEmpty()) {
            connection.releaseSavepoint(before);
        }
        return failed;
    }

    private boolean sent(Deferred.Step<BatchPart> step) throws SQLException {
        try {
            send(step);
            return true;
        } catch (SQLException failure) {
            if (faults.isTransient(failure)) {
                throw failure;
            }
            return false;
        }
    }

    private void send(Deferred.Step<BatchPart> step) throws SQLException {
        step.send(connection, running::send);
    }

    private void search(Deferred.Step<BatchPart> step, Map<UnitOfWork, Throwable> failed) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            send(step);
            connection.releaseSavepoint(before);
        } catch (SQLException failure) {
            if (faults.isTransient(failure)) {
                throw failure;
            }
            connection.rollback(before);
            if (step.calls().size() == 1) {
                failed.put(step.calls().get(0).owner(), failure);
            } else {
                for (Deferred.Step<BatchPart> half : step.halves()) {
                    search(half, failed);
                }
            }
        }
    }
}
