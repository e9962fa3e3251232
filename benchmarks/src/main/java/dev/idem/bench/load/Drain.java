package dev.idem.bench.load;

import dev.idem.bench.contender.Delivery;
import dev.idem.bench.contender.Meter;
import dev.idem.bench.contender.QueueContender;
import dev.idem.bench.contender.Sql;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Stores messages, then lets workers handle them: all at once, or one after the other. Afterwards the payments are counted. */
public final class Drain {
    private static final int CENTS = 4_200;
    private static final int CHUNK = 500;
    private static final int FIRST = 20;

    private final DataSource dataSource;

    public Drain(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /**
     * The rate from the first call of a handler until nothing is left.
     *
     * @param messages how many are stored before, by whom who gets all of them
     * @throws WrongCountException if not exactly these messages were paid
     */
    public Measurement rate(QueueContender contender, Workload workload, int messages) throws Exception {
        int count = Math.max(1, messages / contender.share());
        var meter = Meter.of(count);
        Effects.empty(dataSource, contender.tables());
        double perSecond;
        try (contender) {
            contender.open(workload.threads(), meter);
            for (int from = 0; from < count; from += CHUNK) {
                contender.store(deliveries(from, Math.min(count, from + CHUNK)));
            }
            settle(contender);
            contender.start();
            meter.awaitHandled();
            while (Sql.number(dataSource, contender.left()) > 0) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            perSecond = count * 1e9 / (System.nanoTime() - meter.began());
        }
        Effects.PAYMENTS.check(dataSource, contender.name(), workload, count);
        return new Measurement(perSecond, 0, 0);
    }

    /** The time from before a message is stored until its payment is durable, with a pause between messages. */
    public Measurement latency(QueueContender contender, Workload workload, int messages, long pauseMillis)
            throws Exception {
        int count = messages + FIRST;
        var meter = Meter.ofCommits();
        long[] nanos = new long[messages];
        Effects.empty(dataSource, contender.tables());
        try (contender) {
            contender.open(workload.threads(), meter);
            contender.start();
            for (int i = 0; i < count; i++) {
                TimeUnit.MILLISECONDS.sleep(pauseMillis);
                List<Delivery> message = deliveries(i, i + 1);
                long began = System.nanoTime();
                contender.store(message);
                meter.awaitCommit();
                if (i >= FIRST) { // the first ones find nothing prepared
                    nanos[i - FIRST] = System.nanoTime() - began;
                }
            }
        }
        Effects.PAYMENTS.check(dataSource, contender.name(), workload, count);
        return Measurement.of(1_000.0 / pauseMillis, nanos);
    }

    /** What autovacuum would do sooner or later, so that it is nobody's luck when. */
    private void settle(QueueContender contender) throws SQLException {
        Sql.execute(dataSource, "VACUUM ANALYZE " + String.join(", ", contender.tables()), "CHECKPOINT");
    }

    private static List<Delivery> deliveries(int from, int to) {
        List<Delivery> deliveries = new ArrayList<>();
        for (int i = from; i < to; i++) {
            deliveries.add(new Delivery(UUID.randomUUID().toString(), "0-" + i, CENTS, true, false, 0, i));
        }
        return deliveries;
    }
}
