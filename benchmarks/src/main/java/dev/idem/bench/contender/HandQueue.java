package dev.idem.bench.contender;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * The loop that a careful team writes by hand: claims a hundred, calls the handler for each, marks them done, commits.
 * Nothing keeps the messages apart, nothing is retried.
 */
final class HandQueue implements QueueContender {
    private static final String STORE = """
            INSERT INTO hand_queue (message_id, payload) SELECT i, p FROM unnest(?, ?) AS m(i, p)
            ON CONFLICT (message_id) DO NOTHING
            """;
    private static final String CLAIM =
            "SELECT id, payload FROM hand_queue WHERE NOT done ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED";
    private static final String DONE = "UPDATE hand_queue SET done = true WHERE id = ANY (?)";

    private final DataSource dataSource;
    private final List<Future<?>> running = new ArrayList<>();
    private ExecutorService threads = Executors.newCachedThreadPool();
    private int workers;
    private Meter meter = Meter.of(0);
    private volatile boolean closed;

    HandQueue(DataSource dataSource) throws SQLException {
        this.dataSource = dataSource;
        Sql.execute(dataSource, """
                CREATE TABLE IF NOT EXISTS hand_queue (
                  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                  message_id text        NOT NULL UNIQUE,
                  stored_at  timestamptz NOT NULL DEFAULT now(),
                  done       boolean     NOT NULL DEFAULT false,
                  payload    bytea       NOT NULL
                )
                """, "CREATE INDEX IF NOT EXISTS hand_queue_open ON hand_queue (id) WHERE NOT done");
    }

    @Override
    public String name() {
        return "hand";
    }

    @Override
    public List<String> tables() {
        return List.of("hand_queue");
    }

    @Override
    public String left() {
        return "SELECT count(*) FROM (SELECT 1 FROM hand_queue WHERE NOT done LIMIT 1) o";
    }

    @Override
    public void open(int count, Meter hears) {
        workers = count;
        meter = hears;
        closed = false;
        threads = Executors.newFixedThreadPool(count);
    }

    @Override
    public void store(List<Delivery> messages) throws SQLException {
        byte[][] payloads =
                messages.stream().map(message -> message.request().payload()).toArray(byte[][]::new);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(STORE)) {
            Array ids = connection.createArrayOf(
                    "text", messages.stream().map(Delivery::id).toArray());
            insert.setArray(1, ids);
            insert.setArray(2, connection.createArrayOf("bytea", payloads));
            insert.executeUpdate();
        }
    }

    @Override
    public void start() {
        for (int i = 0; i < workers; i++) {
            running.add(threads.submit(this::work));
        }
    }

    private Void work() throws Exception {
        while (!closed) {
            if (!turn()) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        return null;
    }

    private boolean turn() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            List<Long> claimed = new ArrayList<>();
            List<PaymentRequest> requests = new ArrayList<>();
            try (PreparedStatement claim = connection.prepareStatement(CLAIM);
                    ResultSet rows = claim.executeQuery()) {
                while (rows.next()) {
                    claimed.add(rows.getLong(1));
                    requests.add(PaymentRequest.decode(rows.getBytes(2)));
                }
            }
            meter.handling();
            for (PaymentRequest request : requests) {
                Payments.pay(connection, request);
            }
            meter.handled(requests.size());
            try (PreparedStatement done = connection.prepareStatement(DONE)) {
                done.setArray(1, connection.createArrayOf("bigint", claimed.toArray()));
                done.executeUpdate();
            }
            connection.commit();
            return !claimed.isEmpty();
        }
    }

    @Override
    public void close() throws Exception {
        closed = true;
        threads.shutdown();
        for (Future<?> worker : running) {
            worker.get();
        }
        running.clear();
    }
}
