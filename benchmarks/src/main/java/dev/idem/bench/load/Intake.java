package dev.idem.bench.load;

import dev.idem.bench.contender.Broker;
import dev.idem.bench.contender.BrokerContender;
import dev.idem.bench.contender.Meter;
import dev.idem.bench.contender.Sql;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** Lets contenders take messages from a broker. Afterwards the payments are counted, and what is not acknowledged. */
public final class Intake {
    private static final Duration LAST_COMMIT = Duration.ofSeconds(30);
    private static final String PAID = "SELECT count(*) FROM payment";

    private final DataSource dataSource;
    private final Broker broker;

    public Intake(DataSource dataSource, Broker broker) {
        this.dataSource = dataSource;
        this.broker = broker;
    }

    /**
     * The rate from the first call of a handler until all payments are committed.
     *
     * @param messages how many there are for whoever gets all of them
     * @throws WrongCountException if not exactly these messages were paid
     */
    public Measurement rate(BrokerContender contender, Workload workload, int messages) throws Exception {
        int count = Math.max(1, messages / contender.share());
        var meter = Meter.of(count);
        Effects.empty(dataSource, contender.tables());
        broker.fill(count);
        Sql.execute(dataSource, "CHECKPOINT"); // not in somebody's measurement
        double perSecond;
        try (Broker.Taking taking = contender.start(broker, meter)) {
            meter.awaitHandled();
            long deadline = System.nanoTime() + LAST_COMMIT.toNanos();
            while (Sql.number(dataSource, PAID) < count && System.nanoTime() < deadline) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            perSecond = count * 1e9 / (System.nanoTime() - meter.began());
        }
        Effects.PAYMENTS.check(dataSource, contender.name(), workload, count);
        long left = broker.left();
        if (left != 0) {
            throw new IllegalStateException(contender.name() + " left " + left + " of " + count
                    + " messages without an acknowledgement. Nothing of this run can be trusted");
        }
        return new Measurement(perSecond, 0, 0);
    }
}
