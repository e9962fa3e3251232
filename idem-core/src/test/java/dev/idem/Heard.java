package dev.idem;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Writes down what the inbox tells its listeners. Complete once the inbox is closed. */
public class Heard implements InboxListener {
    public final List<String> events = Collections.synchronizedList(new ArrayList<>());
    final List<Delivery> deliveries = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void settled(Delivery delivery) {
        deliveries.add(delivery);
        String kind = delivery.outcome() instanceof Outcome.Failed<?> failed ? " " + failed.kind() : "";
        events.add(delivery.outcome().getClass().getSimpleName() + kind);
    }

    @Override
    public void observed(String consumer, Outcome<?> verdict) {
        events.add("observed " + verdict.getClass().getSimpleName());
    }

    @Override
    public void unguarded(String consumer, Rejection reason) {
        events.add("unguarded " + reason);
    }

    @Override
    public void ranAgain(String consumer, int nextRun, Throwable cause) {
        events.add("ranAgain " + nextRun);
    }

    @Override
    public void commitUnknown(String consumer, Throwable cause) {
        events.add("commitUnknown");
    }

    @Override
    public void transactionUnused(String consumer) {
        events.add("unused");
    }

    @Override
    public void transactionBroken(String consumer, BrokenTransactionException cause) {
        events.add("broken");
    }

    @Override
    public void timedOut(String consumer, Duration limit) {
        events.add("timedOut " + limit);
    }

    @Override
    public void eventsLost(long count) {
        events.add("lost " + count);
    }
}
