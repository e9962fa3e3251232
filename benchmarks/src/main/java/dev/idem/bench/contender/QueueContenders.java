package dev.idem.bench.contender;

import dev.idem.queue.QueuePolicy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** Who is measured with stored messages. */
public final class QueueContenders {
    /** The libraries of others, by the names they have in reports. */
    public static final List<String> PEERS = List.of("db-scheduler", "jobrunr", "transaction-outbox");

    private static final Duration LEASE = Duration.ofSeconds(30);

    private QueueContenders() {}

    /** Everyone. */
    public static List<QueueContender> drain(DataSource dataSource) throws SQLException {
        return List.of(
                new HandQueue(dataSource),
                new DbScheduler(dataSource),
                new JobRunr(dataSource),
                new Outbox(dataSource),
                idem("idem", dataSource, QueuePolicy.inTransaction(), Form.EACH),
                idem("idem-deferred", dataSource, QueuePolicy.inTransaction(), Form.DEFERRED),
                idem("idem-batch", dataSource, QueuePolicy.inTransaction(), Form.TOGETHER),
                idem("idem-leased", dataSource, QueuePolicy.leased(LEASE), Form.EACH));
    }

    /** Those who can be prompt. */
    public static List<QueueContender> latency(DataSource dataSource) throws SQLException {
        return List.of(
                new InlineQueue(IdemSetup.fresh("inline", dataSource)),
                new DbScheduler(dataSource),
                new Outbox(dataSource),
                idem("idem", dataSource, QueuePolicy.inTransaction(), Form.EACH));
    }

    /** Messages that are stored in batches of this size, and one by one. */
    public static List<Contender> store(DataSource dataSource, int batch) {
        return List.of(
                new IdemStore(IdemSetup.fresh("idem-store-batch", dataSource), batch),
                new IdemStore(IdemSetup.fresh("idem-store-single", dataSource), 1));
    }

    private static IdemQueue idem(String name, DataSource dataSource, QueuePolicy policy, Form form) {
        return new IdemQueue(IdemSetup.fresh(name, dataSource), policy, form);
    }
}
