package dev.idem.broker;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.batch.BatchHandler;
import dev.idem.batch.BatchTransaction;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Takes messages out of an outbox and gives them to a broker: a thread-safe, queued consumer whose handler publishes and waits for the
 * confirmation. A message leaves the outbox in a transaction after that; so it is published at least once, always with the
 * same id. Any number of processes may relay one outbox.
 *
 * <pre>{@code
 * inbox.start(Relay.of(shipments, KafkaPublisher.to("shipments", config)));
 * }</pre>
 */
public final class Relay {
    /** Longer than any publisher of ours waits, for many rounds of one busy key. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final Outbox outbox;
    private final Sending sending;

    private Relay(Outbox outbox, Publisher publisher) {
        this.outbox = Objects.requireNonNull(outbox, "outbox");
        this.sending = new Sending(outbox.name(), Objects.requireNonNull(publisher, "publisher"));
    }

    /** Takes up to 100 messages at once, by two workers, in one transaction: a crash frees them at once. */
    public static Consumer of(Outbox outbox, Publisher publisher) {
        return of(outbox, publisher, QueuePolicy.inTransaction());
    }

    /** The same with other numbers of workers and messages, another retry, or leases. */
    public static Consumer of(Outbox outbox, Publisher publisher, QueuePolicy policy) {
        BatchHandler<Message> handler = new Relay(outbox, publisher)::relay;
        return outbox.relay(policy)
                .policy(Policy.defaults()
                        .withUnusedTransaction(Policy.UnusedTransaction.ALLOW)
                        .withHandlerTimeout(LIMIT))
                .otherwiseAll(handler)
                .build();
    }

    private void relay(List<Message> messages, BatchTransaction tx) throws InterruptedException {
        Rounds rounds = new Rounds(messages, outbox.isOrdered());
        for (List<Integer> round = rounds.next(); !round.isEmpty(); round = rounds.next()) {
            Map<Integer, Exception> failed =
                    sending.send(round.stream().map(messages::get).toList());
            for (Map.Entry<Integer, Exception> failure : failed.entrySet()) {
                int index = round.get(failure.getKey());
                rounds.block(index);
                tx.fail(index, failure.getValue());
            }
        }
    }
}
