package dev.idem.torture;

import java.util.List;
import java.util.Set;

/** From the publisher through a real broker, which gives the consumers what it wants. Used by one thread. */
final class BrokerTraffic implements Traffic {
    private final Plan plan;
    private final BrokerServer broker;
    private final Publisher publisher;
    private long deliveries;

    BrokerTraffic(Plan plan, BrokerServer broker, Defect defect) {
        this.plan = plan;
        this.broker = broker;
        publisher = new Publisher(plan, broker, defect);
    }

    @Override
    public void flow(double share, List<Slot> slots, long now) throws Exception {
        publisher.publish(Math.min(1, share));
    }

    @Override
    public boolean hear(String line, long now) {
        boolean delivered = line.startsWith(ConsumerMain.DELIVERED);
        if (delivered) {
            deliveries += Integer.parseInt(line.substring(ConsumerMain.DELIVERED.length()));
        }
        return delivered;
    }

    /** The broker finds out by itself. */
    @Override
    public void takeBack(int slot, long now) {}

    @Override
    public boolean isDone() {
        return publisher.isDone();
    }

    @Override
    public Set<Item> accepted() {
        return publisher.confirmed();
    }

    @Override
    public long deliveries() {
        return deliveries;
    }

    @Override
    public Rest rest(long effects) throws Exception {
        long left = broker.unfinished();
        boolean done = isDone() && left == 0 && effects >= plan.effects();
        return new Rest(left, left == 0, done && letters().lost() == 0);
    }

    private Letters letters() throws Exception {
        return Letters.of(plan, accepted(), plan.parked() == 0 ? List.of() : broker.letters());
    }

    @Override
    public Report report(TortureSettings settings, Numbers numbers) throws Exception {
        Verdict verdict = numbers.verdict();
        Letters letters = letters();
        return new BrokerReport(
                settings.subject().label(),
                settings.seed(),
                settings.isPlanted() ? settings.defect().label() : null,
                numbers.seconds(),
                settings.messages(),
                plan.publications(),
                plan.publications() - settings.messages(),
                deliveries,
                numbers.kills(),
                numbers.pauses(),
                numbers.serverKills(),
                numbers.cuts(),
                plan.parked(),
                numbers.letterOutages(),
                letters.there(),
                letters.astray(),
                verdict.lost() + letters.lost(),
                verdict.doubled(),
                verdict.outOfOrder(),
                settings.isOrdered(),
                settings.messages() - publisher.confirmed().size(),
                settings.command());
    }

    @Override
    public void close() {
        publisher.close();
    }
}
