package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.Transaction;
import dev.idem.batch.BatchTransaction;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** The handlers of a random stream, which do what their plan says, and the table of their numbered effects. */
final class BatchWorld {
    private static final String INSERT = "INSERT INTO effect (message_id, state) VALUES (?, ?)";
    private static final String TOO_LONG = "x".repeat(300);

    private final Db db;
    private final Map<String, BatchPlan> plans = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> troubles = new ConcurrentHashMap<>();

    BatchWorld(Db db) {
        this.db = db;
        String number = switch (db.kind()) {
            case POSTGRESQL, H2 -> "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
            case MARIADB -> "BIGINT AUTO_INCREMENT PRIMARY KEY";
        };
        db.execute("CREATE TABLE effect (seq " + number + ", message_id VARCHAR(100) NOT NULL, state VARCHAR(10))");
        db.execute("CREATE TABLE owner (id VARCHAR(100) PRIMARY KEY)");
        db.execute("CREATE TABLE owned (id VARCHAR(100), FOREIGN KEY (id) REFERENCES owner (id)"
                + (db.kind() == Database.POSTGRESQL ? " DEFERRABLE INITIALLY DEFERRED)" : ")"));
    }

    void add(List<BatchPlan> stream) {
        stream.forEach(plan -> plans.put(plan.id(), plan));
    }

    Consumer consumer(Policy policy) {
        Consumer.Builder consumer = Consumer.named("random").policy(policy);
        for (BatchPlan.Style style : List.of(BatchPlan.Style.EACH, BatchPlan.Style.DEFERRED, BatchPlan.Style.MIXED)) {
            consumer.on(style.name(), PayloadDecoder.message(), this::handle);
        }
        return consumer.onAll(BatchPlan.Style.TOGETHER.name(), PayloadDecoder.message(), this::together)
                .onAll(BatchPlan.Style.ROW_BY_ROW.name(), PayloadDecoder.message(), this::rowByRow)
                .build();
    }

    private Void handle(Message message, Transaction tx) throws Exception {
        BatchPlan plan = plan(message);
        BatchPlan.Trouble trouble = next(plan);
        before(trouble, tx.connection());
        switch (plan.style()) {
            case DEFERRED -> tx.defer(INSERT, plan.id(), "done");
            case MIXED -> {
                write(tx.connection(), plan.id(), "half");
                tx.defer("UPDATE effect SET state = 'done' WHERE message_id = ?", plan.id());
            }
            default -> write(tx.connection(), plan.id(), "done");
        }
        if (trouble == BatchPlan.Trouble.DEFERRED_ERROR) {
            tx.defer(INSERT, TOO_LONG, "never");
        }
        after(trouble, tx.connection(), tx.dataSource());
        return null;
    }

    private void together(List<Message> messages, BatchTransaction tx) throws Exception {
        try (PreparedStatement insert = tx.connection().prepareStatement(INSERT)) {
            for (int i = 0; i < messages.size(); i++) {
                BatchPlan plan = plan(messages.get(i));
                BatchPlan.Trouble trouble = next(plan);
                if (trouble == BatchPlan.Trouble.SAID_BY_HANDLER) {
                    tx.fail(i, new IllegalStateException("said by handler"));
                    continue;
                }
                before(trouble, tx.connection());
                insert.setString(1, trouble == BatchPlan.Trouble.DEFERRED_ERROR ? TOO_LONG : plan.id());
                insert.setString(2, "done");
                insert.addBatch();
                after(trouble, tx.connection(), tx.dataSource());
            }
            insert.executeBatch();
        }
    }

    private void rowByRow(List<Message> messages, BatchTransaction tx) throws Exception {
        for (int i = 0; i < messages.size(); i++) {
            BatchPlan plan = plan(messages.get(i));
            BatchPlan.Trouble trouble = next(plan);
            if (trouble == BatchPlan.Trouble.SAID_BY_HANDLER) {
                tx.fail(i, new IllegalStateException("said by handler"));
                continue;
            }
            before(trouble, tx.connection());
            write(tx.connection(), plan.id(), "done");
            after(trouble, tx.connection(), tx.dataSource());
        }
    }

    private BatchPlan plan(Message message) {
        return plans.get(message.id().orElseThrow());
    }

    /** The trouble of this run: none, when it has come often enough. */
    private BatchPlan.Trouble next(BatchPlan plan) {
        int before =
                troubles.computeIfAbsent(plan.id(), id -> new AtomicInteger()).getAndIncrement();
        return plan.isTerminal() || before < plan.times() ? plan.trouble() : BatchPlan.Trouble.NONE;
    }

    private static void before(BatchPlan.Trouble trouble, Connection connection) throws SQLException {
        switch (trouble) {
            case THROWS_BEFORE -> throw new IllegalStateException("before anything");
            case SQL_ERROR_FIRST -> fail(connection);
            case SWALLOWED_FIRST -> swallow(connection);
            default -> {}
        }
    }

    private void after(BatchPlan.Trouble trouble, Connection connection, DataSource library) throws Exception {
        switch (trouble) {
            case THROWS, SAID_BY_HANDLER -> throw new IllegalStateException("after the effect");
            case TERMINAL -> throw new TerminalException("never", null);
            case SQL_ERROR -> fail(connection);
            case SWALLOWED -> swallow(connection);
            case TRANSIENT -> Undone.by(connection);
            case LIBRARY_ROLLBACK -> {
                try (Connection theirs = library.getConnection()) {
                    theirs.setAutoCommit(false);
                    write(theirs, "rolled back", "never");
                    theirs.rollback();
                }
            }
            case AT_COMMIT -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("INSERT INTO owned (id) VALUES ('nobody')");
                }
            }
            default -> {}
        }
    }

    private static void fail(Connection connection) throws SQLException {
        write(connection, TOO_LONG, "never");
    }

    private static void swallow(Connection connection) {
        try {
            fail(connection);
        } catch (SQLException swallowed) {
            return;
        }
        throw new AssertionError("it should not fit");
    }

    private static void write(Connection connection, String id, String state) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setString(1, id);
            statement.setString(2, state);
            statement.executeUpdate();
        }
    }

    /** Whose effects are there, in the order in which they were written. */
    List<String> effects(String prefix) throws SQLException {
        List<String> effects = new ArrayList<>();
        try (Connection connection = db.plain().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT message_id, state FROM effect WHERE message_id LIKE '" + prefix + "%' ORDER BY seq")) {
            while (rows.next()) {
                effects.add(rows.getString(2).equals("done") ? rows.getString(1) : "half of " + rows.getString(1));
            }
        }
        return effects;
    }
}
