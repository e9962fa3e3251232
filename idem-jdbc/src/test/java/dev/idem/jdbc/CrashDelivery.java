package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * One delivery that tells a visitor about every point it passes: each {@link FaultPoint}, and in the handler before and after
 * its effect. The visitor may throw, stand still or end the process.
 */
final class CrashDelivery {
    /** Patient: a handler that stands at its point must not be taken for one that hangs. */
    static final Consumer CONSUMER = Consumer.named("payments")
            .policy(Policy.defaults().withHandlerTimeout(Duration.ofMinutes(10)))
            .build();

    static final String BEFORE_EFFECT = "HANDLER_BEFORE_EFFECT";
    static final String AFTER_EFFECT = "HANDLER_AFTER_EFFECT";

    /** What happens to a delivery, so that every step is passed in one of them. */
    enum Scenario {
        SUCCEEDS,
        FAILS,
        /** The database undoes the first run, the second succeeds. */
        UNDONE,
        DUPLICATE,
        /** The commit is made and its answer lost. */
        COMMIT_LOST
    }

    /** Told the name of a point, and how many points this delivery has passed before it. */
    interface Visitor {
        void at(String point, int index);
    }

    private final FaultyDataSource source;
    private final Scenario scenario;
    private final Visitor visitor;
    private final List<String> passed = new ArrayList<>();
    private boolean commitLost;
    private int runs;

    private CrashDelivery(DataSource source, Scenario scenario, Visitor visitor) {
        this.source = FaultyDataSource.around(source);
        this.scenario = scenario;
        this.visitor = visitor;
    }

    /** Delivers through an inbox of its own, as another instance of a service would. */
    static Outcome<String> deliver(DataSource source, String id, Scenario scenario, Visitor visitor) throws Exception {
        return new CrashDelivery(source, scenario, visitor).deliver(id);
    }

    private Outcome<String> deliver(String id) throws Exception {
        JdbcStore store =
                JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
        try (Inbox inbox = Inbox.builder(store).steps(this::at).build()) {
            return inbox.process(CONSUMER, message(id), tx -> handle(tx, id));
        }
    }

    static Message message(String id) {
        return Message.of(id, "pay".getBytes(StandardCharsets.UTF_8));
    }

    private String handle(Transaction tx, String id) throws SQLException {
        pass(BEFORE_EFFECT);
        Db.pay(tx.connection(), id);
        pass(AFTER_EFFECT);
        runs++;
        if (scenario == Scenario.FAILS) {
            throw new IllegalStateException("the handler fails");
        }
        if (scenario == Scenario.UNDONE && runs == 1) {
            Undone.by(tx.connection());
        }
        return id;
    }

    private void at(FaultPoint step, MarkerKey key) {
        pass(step.name());
        if (step == FaultPoint.BEFORE_COMMIT && scenario == Scenario.COMMIT_LOST && !commitLost) {
            commitLost = true;
            source.arm(2, Fault.CONNECTION_LOST_AFTER); // first the statement is prepared, then it is sent
        }
    }

    private void pass(String point) {
        passed.add(point);
        visitor.at(point, passed.size() - 1);
    }
}
