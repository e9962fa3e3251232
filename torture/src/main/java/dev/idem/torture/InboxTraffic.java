package dev.idem.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.queue.QueueStats;
import dev.idem.spi.QueueStore;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/** From the broker that the campaign plays, through the queues in the database. Used by one thread. */
final class InboxTraffic implements Traffic {
    private final Plan plan;
    private final Broker broker;
    private final HikariDataSource pool;
    private final JdbcStore store;
    private final Person person;

    InboxTraffic(Plan plan, long seed, String url) {
        this.plan = plan;
        broker = new Broker(plan, seed);
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        store = JdbcStore.create(pool);
        person = new Person(JdbcInbox.of(JdbcSchema.of(pool)), url);
    }

    @Override
    public void flow(double share, List<Slot> slots, long now) {
        List<Integer> listening =
                slots.stream().filter(Slot::listens).map(Slot::number).toList();
        broker.deliver(share, listening, now)
                .forEach(delivery -> slots.get(delivery.slot()).say(delivery.line()));
    }

    @Override
    public boolean hear(String line, long now) {
        Optional<Answer> answer = Answer.parse(line);
        answer.ifPresent(heard -> broker.hear(heard, now));
        return answer.isPresent();
    }

    @Override
    public void takeBack(int slot, long now) {
        broker.takeBack(slot, now);
    }

    @Override
    public boolean isDone() {
        return broker.isDone();
    }

    @Override
    public Set<Item> accepted() {
        return broker.accepted();
    }

    @Override
    public long deliveries() {
        return broker.deliveries();
    }

    @Override
    public Rest rest(long effects) {
        long left = left();
        // What only waits behind others is looked at by every sweep.
        boolean onlyHeld = left == stats(QueueStats::held);
        boolean settled = !person.hasWork();
        return new Rest(
                left, onlyHeld && settled, isDone() && left <= plan.blocked().size() && settled);
    }

    @Override
    public void settle(boolean quiet) throws SQLException {
        person.settle(quiet);
    }

    @Override
    public Set<Integer> changed() {
        return person.changed();
    }

    private long left() {
        return stats(QueueStats::pending) + stats(QueueStats::inProgress) + stats(QueueStats::held);
    }

    private long stats(ToLongFunction<QueueStats> number) {
        QueueStore queue = store.queue();
        long sum = 0;
        for (Mode mode : Mode.QUEUED) {
            sum += number.applyAsLong(queue.stats(mode.consumer()));
        }
        return sum;
    }

    @Override
    public Report report(TortureSettings settings, Numbers numbers) {
        Verdict verdict = numbers.verdict();
        return new InboxReport(
                settings.seed(),
                settings.isPlanted() ? settings.defect().label() : null,
                numbers.seconds(),
                settings.messages(),
                broker.deliveries(),
                broker.duplicates(),
                numbers.kills(),
                numbers.pauses(),
                numbers.crashes(),
                numbers.serverKills(),
                numbers.cuts(),
                numbers.jumps(),
                verdict.lost(),
                verdict.doubled(),
                verdict.calledTwice(),
                verdict.outOfOrder(),
                stats(QueueStats::parked),
                plan.parked(),
                person.changed().size(),
                person.made() + person.notMade(),
                stats(QueueStats::held),
                plan.blocked().size(),
                left() - stats(QueueStats::held),
                broker.unaccepted(),
                settings.command());
    }

    @Override
    public void close() {
        store.close();
        pool.close();
    }
}
