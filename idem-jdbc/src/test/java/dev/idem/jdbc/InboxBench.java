package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A database with stored messages that no worker takes, and an operator in front of it. */
public final class InboxBench implements AutoCloseable {
    public static final QueuePolicy PLAIN = QueuePolicy.inTransaction();
    public static final QueuePolicy ORDERED = QueuePolicy.inTransaction().withOrderByKey();

    public final Db db;
    public final Inbox inbox;
    public final JdbcInbox operator;

    public InboxBench(Database database) {
        db = Db.fresh(database);
        inbox = db.inbox(db.pool(8));
        inbox.register(Consumer.of("payments")); // creates the tables
        operator = JdbcInbox.of(JdbcSchema.of(db.plain()));
    }

    public static Consumer consumer(QueuePolicy policy) {
        return Consumer.named("payments")
                .queued(policy)
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    /** Stores messages in this order, each of the ordering key that its id begins with; answers their numbers. */
    public List<Long> store(QueuePolicy policy, String... ids) {
        List<Message> messages = new ArrayList<>();
        for (String id : ids) {
            messages.add(Message.builder()
                    .id(id)
                    .type("paid")
                    .orderingKey(id.substring(0, 1))
                    .header("token", "secret-value".getBytes(StandardCharsets.UTF_8))
                    .payload(id.getBytes(StandardCharsets.UTF_8))
                    .build());
        }
        inbox.acceptAll(consumer(policy), messages);
        List<Long> numbers = new ArrayList<>();
        for (String id : ids) {
            numbers.add(operator.find("payments", id).orElseThrow());
        }
        return numbers;
    }

    public InboxOperator anna() {
        return operator.as("anna", "because");
    }

    /** Puts a message into a state past the state machine; it is due, or will be in ten minutes. */
    public void put(long id, QueueState state, boolean due) {
        String now = QueueSql.of(db.kind()).now();
        String dueAt = switch (state) {
            case RECEIVED, FAILED_RETRYABLE, IN_PROGRESS -> due ? now + " - 1000000" : now + " + 600000000";
            default -> "NULL";
        };
        db.execute("UPDATE idem_queue SET status = " + state.code() + ", due_at = " + dueAt
                + ", worker = 'pid 7/payments-0' WHERE id = " + id);
    }

    public QueueState state(long id) {
        return QueueState.of((int) db.number("SELECT status FROM idem_queue WHERE id = " + id));
    }

    public long fence(long id) {
        return db.number("SELECT fence FROM idem_queue WHERE id = " + id);
    }

    public long audits() {
        return db.number("SELECT count(*) FROM idem_audit");
    }

    @Override
    public void close() {
        inbox.close();
        db.close();
    }
}
