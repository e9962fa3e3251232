package dev.idem.bench.contender;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.gruelbox.transactionoutbox.TransactionOutboxEntry;
import com.gruelbox.transactionoutbox.TransactionOutboxListener;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;

/**
 * transaction-outbox with unique request ids, so that it recognises duplicates. After the commit it submits to an executor;
 * what was stored before there were workers is flushed to them.
 */
final class Outbox implements QueueContender {
    private final DataSource dataSource;
    private final ThreadLocalContextTransactionManager transactions;
    private final TransactionOutbox outbox;
    private ExecutorService threads = Executors.newCachedThreadPool();
    private Meter meter = Meter.of(0);
    private volatile boolean working;

    Outbox(DataSource dataSource) {
        this.dataSource = dataSource;
        transactions = TransactionManager.fromDataSource(dataSource);
        Payer payer = this::pay;
        outbox = TransactionOutbox.builder()
                .transactionManager(transactions)
                .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                .instantiator(Instantiator.using(type -> payer))
                .submitter((entry, work) -> {
                    if (working) {
                        threads.execute(() -> work.accept(entry));
                    }
                })
                .listener(new TransactionOutboxListener() {
                    @Override
                    public void success(TransactionOutboxEntry entry) {
                        meter.committed();
                    }
                })
                .build();
    }

    /** What is stored is a call of this. */
    public interface Payer {
        void pay(String order, long cents);
    }

    @Override
    public String name() {
        return "transaction-outbox";
    }

    @Override
    public List<String> tables() {
        return List.of("txno_outbox");
    }

    @Override
    public String left() {
        return "SELECT count(*) FROM txno_outbox WHERE NOT processed";
    }

    @Override
    public int share() {
        return 10;
    }

    @Override
    public void open(int workers, Meter hears) {
        meter = hears;
        threads = Executors.newFixedThreadPool(workers);
        working = false;
    }

    @Override
    public void store(List<Delivery> messages) {
        transactions.inTransaction(() -> {
            for (Delivery message : messages) {
                outbox.with()
                        .uniqueRequestId(message.id())
                        .schedule(Payer.class)
                        .pay(message.order(), message.cents());
            }
        });
    }

    private void pay(String order, long cents) {
        meter.handling();
        try {
            transactions.requireTransaction(
                    tx -> Payments.pay(tx.connection(), new PaymentRequest(order, cents, false)));
        } catch (SQLException failure) {
            throw new IllegalStateException("the payment failed", failure);
        }
        meter.handled(1);
    }

    @Override
    public void start() throws SQLException {
        working = true;
        // A stored call is only flushed when its first attempt is late; here nobody has tried.
        Sql.execute(dataSource, "UPDATE txno_outbox SET nextattempttime = now() - interval '1 second'");
        while (outbox.flush()) {
            // there was a batch, and there may be more
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
