package dev.idem.broker;

import dev.idem.BatchHandler;
import dev.idem.BatchTransaction;
import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outbox;
import dev.idem.Policy;
import dev.idem.QueuePolicy;
import dev.idem.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

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
    private final Publisher publisher;

    private Relay(Outbox outbox, Publisher publisher) {
        this.outbox = Objects.requireNonNull(outbox, "outbox");
        this.publisher = Objects.requireNonNull(publisher, "publisher");
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

    /**
     * In rounds, in which no ordering key stands twice: a message that is not confirmed must not be overtaken by the next of
     * its key, and what is on its way cannot be called back. Behind one that failed nothing of its key is published; the
     * queue's own order lets those wait.
     */
    private void relay(List<Message> messages, BatchTransaction tx) throws Exception {
        Set<String> blocked = new HashSet<>();
        List<Integer> waiting = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            waiting.add(i);
        }
        while (!waiting.isEmpty()) {
            List<Integer> round = new ArrayList<>();
            List<Integer> later = new ArrayList<>();
            Set<String> keys = new HashSet<>(blocked);
            for (int index : waiting) {
                String key =
                        outbox.isOrdered() ? messages.get(index).orderingKey().orElse(null) : null;
                if (key == null || keys.add(key)) {
                    round.add(index);
                } else if (!blocked.contains(key)) {
                    later.add(index);
                }
            }
            publish(messages, round, tx, blocked);
            waiting = later;
        }
    }

    private void publish(List<Message> messages, List<Integer> round, BatchTransaction tx, Set<String> blocked)
            throws Exception {
        Map<Integer, Exception> failed =
                failed(round.stream().map(messages::get).toList());
        failed.forEach((position, cause) -> {
            int index = round.get(position);
            messages.get(index).orderingKey().ifPresent(blocked::add);
            tx.fail(index, cause);
        });
    }

    private Map<Integer, Exception> oneByOne(List<Message> messages) throws InterruptedException {
        Map<Integer, Exception> failures = new java.util.HashMap<>();
        for (int i = 0; i < messages.size(); i++) {
            int index = i;
            failed(List.of(messages.get(i))).values().forEach(cause -> failures.put(index, cause));
        }
        return failures;
    }

    /** What is thrown for all is said of each: the queue would else look for the guilty one, and wait for the broker anew. */
    private Map<Integer, Exception> failed(List<Message> messages) throws InterruptedException {
        if (messages.isEmpty()) {
            return Map.of();
        }
        try {
            return publisher.publish(messages);
        } catch (InterruptedException stop) {
            throw stop;
        } catch (Exception failure) {
            if (messages.size() > 1 && failure instanceof RuntimeException && !(failure instanceof StoreException)) {
                return oneByOne(messages); // one of them cannot be sent at all, and the others must not be blamed
            }
            Exception cause = failure instanceof RuntimeException
                    ? failure
                    : new StoreException("The broker of outbox " + outbox.name() + " did not confirm", failure);
            Map<Integer, Exception> all = new java.util.HashMap<>();
            for (int i = 0; i < messages.size(); i++) {
                all.put(i, cause);
            }
            return all;
        }
    }
}
