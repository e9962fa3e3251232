package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.ConsumerNumbers;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Threads;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Looks after consumers and their windows in the background, on one thread of a store: registers and declares them again,
 * and sweeps if this instance is elected. Whatever fails is tried again later, ever more seldom, and disturbs nobody.
 */
public final class Sweeper implements AutoCloseable {
    private static final Logger log = StoreLog.LOG;
    private static final Duration LONGEST_TICK = Duration.ofMinutes(10);
    private static final Duration LONGEST_BACKOFF = Duration.ofHours(1);
    private static final Duration KEEP_ELECTED = Duration.ofSeconds(30);
    private static final long CLOSE_MILLIS = 2_000;

    private final DataSource dataSource;
    private final Tables tables;
    private final ConsumerNumbers consumers;
    private final Windows windows;
    private final Duration interval;
    private final Supplier<List<Finding>> checks;
    private final boolean sweeps;
    private final Election election;
    private final Set<String> told = new HashSet<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private @Nullable Thread thread;
    private long electedAt;

    /**
     * With an interval of zero nothing is swept here, only declared.
     *
     * @param checks looks at the tables as at a start
     */
    public Sweeper(
            DataSource dataSource,
            Tables tables,
            ConsumerNumbers consumers,
            Windows windows,
            Duration interval,
            Supplier<List<Finding>> checks) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.consumers = consumers;
        this.windows = windows;
        this.interval = interval;
        this.checks = checks;
        this.sweeps = !interval.isZero();
        this.election = new Election(dataSource, tables);
    }

    public synchronized void start() {
        if (thread == null && closed.getCount() > 0) {
            thread = new Thread(this::loop, "idem-retention");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void loop() {
        Duration tick = sweeps && interval.compareTo(LONGEST_TICK) < 0 ? interval : LONGEST_TICK;
        int failures = 0;
        while (pause(jittered(backedOff(tick, failures)))) {
            try {
                once();
                failures = 0;
            } catch (Throwable failure) { // nothing may end the thread that keeps the tables small
                failures++;
                if (failures == 1 && failure instanceof Exception) {
                    log.warn("{}: looking after the windows failed; tried again later", tables, failure);
                } else {
                    Threads.survived(log, tables, "looking after the windows failed; tried again later", failure);
                }
            }
        }
    }

    private void once() throws SQLException {
        consumers.restore();
        windows.declareAgain();
        if (sweeps && election.won(interval)) {
            electedAt = System.nanoTime();
            RetentionRun.Result done = new RetentionRun(dataSource, tables)
                    .run(known(), false, new Sweep(dataSource, tables, this::restAndStayElected), progress -> {});
            done.cutoffs().forEach(swept -> {
                int consumer = swept.consumer();
                log.debug(
                        "{}: swept {} markers, {} results",
                        swept.name(),
                        done.markers(consumer),
                        done.results(consumer));
            });
            done.partitions().ifPresent(this::tell);
        }
    }

    private List<KnownConsumer> known() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> KnownConsumer.all(connection, tables));
        }
    }

    /** This role cannot create partitions; operators must know in time that no other role does it either. */
    private void tell(RetentionRun.Partitioned partitions) {
        log.debug("{}: partitions created {}, dropped {}", tables, partitions.created(), partitions.dropped());
        if (!partitions.permitted()) {
            checks.get().stream()
                    .filter(finding -> finding.check().startsWith("partition"))
                    .filter(finding -> told.add(finding.check()))
                    .forEach(finding -> log.warn("{}: {}", tables, finding));
        }
    }

    private boolean restAndStayElected(Duration rest) {
        if (System.nanoTime() - electedAt > KEEP_ELECTED.toNanos()) {
            electedAt = System.nanoTime();
            try {
                election.putOff(interval);
            } catch (SQLException failure) {
                log.debug("{}: the next sweep could not be put off; another instance may join in", tables, failure);
            }
        }
        return pause(rest);
    }

    /** Instances that start together must not knock together for ever. */
    private static Duration jittered(Duration pause) {
        return pause.multipliedBy(ThreadLocalRandom.current().nextLong(50, 101)).dividedBy(100);
    }

    private static Duration backedOff(Duration tick, int failures) {
        Duration longer = tick.multipliedBy(1L << Math.min(failures, 10));
        return longer.compareTo(LONGEST_BACKOFF) > 0 && failures > 0 ? LONGEST_BACKOFF : longer;
    }

    /** False when it is time to stop. */
    private boolean pause(Duration pause) {
        try {
            return !closed.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            return false;
        }
    }

    /** Waits for a step that is on its way; an interrupt could cost an embedded database its files. */
    @Override
    public void close() {
        @Nullable Thread running;
        synchronized (this) {
            closed.countDown();
            running = thread;
        }
        Threads.join(running, CLOSE_MILLIS);
    }
}
