package dev.idem.broker;

import dev.idem.Message;
import dev.idem.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives messages to a publisher, and finds out about whom a failure speaks. A publisher that says so is believed: a {@link
 * StoreException} is about the broker, any other unchecked exception about one of the messages, and then they go out one by
 * one. A checked one says nothing. Then they go out one by one as well, and what fails while others are confirmed is to blame
 * for itself; when several in a row fail and none is confirmed it is the broker, and the rest is not tried. Thread-safe.
 */
final class Sending {
    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /** So many fail one after the other before the broker is taken to be away. */
    private static final int PATIENCE = 3;

    private final String outbox;
    private final Publisher publisher;
    private final RejectedPublications suspects = new RejectedPublications();
    private final AtomicBoolean away = new AtomicBoolean();

    Sending(String outbox, Publisher publisher) {
        this.outbox = outbox;
        this.publisher = publisher;
    }

    /** Of which no two have the same ordering key. Answers those that failed, and why. */
    Map<Integer, Exception> send(List<Message> messages) throws InterruptedException {
        Map<Integer, Exception> failed = together(messages);
        tell(failed, failed.size() < messages.size());
        return failed;
    }

    private Map<Integer, Exception> together(List<Message> messages) throws InterruptedException {
        try {
            return published(messages);
        } catch (InterruptedException stop) {
            throw stop;
        } catch (StoreException outage) {
            return blamedFor(outage, indexes(messages));
        } catch (Exception failure) {
            return messages.size() > 1 ? oneByOne(messages) : Map.of(0, ofOne(messages.get(0), failure));
        }
    }

    private Map<Integer, Exception> published(List<Message> messages) throws Exception {
        Map<Integer, Exception> failed = publisher.publish(messages);
        suspects.confirmed(messages.size() - failed.size());
        return failed;
    }

    /** In no order, so that a few that can never go out do not hide the others for ever. */
    private Map<Integer, Exception> oneByOne(List<Message> messages) throws InterruptedException {
        Map<Integer, Exception> failed = new LinkedHashMap<>();
        Map<Integer, Exception> unclear = new LinkedHashMap<>();
        List<Integer> order = indexes(messages);
        Collections.shuffle(order, ThreadLocalRandom.current());
        int inARow = 0;
        for (int next = 0; next < order.size() && inARow < PATIENCE; next++) {
            int index = order.get(next);
            Message message = messages.get(index);
            try {
                published(List.of(message)).values().forEach(cause -> failed.put(index, cause));
                inARow = 0;
            } catch (InterruptedException stop) {
                throw stop;
            } catch (StoreException outage) {
                failed.putAll(blamedFor(outage, order.subList(next, order.size())));
                break;
            } catch (RuntimeException aboutIt) {
                failed.put(index, aboutIt);
            } catch (Exception failure) {
                if (suspects.failedAgain(message)) {
                    failed.put(index, failure);
                } else {
                    unclear.put(index, failure);
                    inARow++;
                }
                if (inARow == PATIENCE) {
                    failed.putAll(blamedFor(unconfirmed(failure), order.subList(next + 1, order.size())));
                }
            }
        }
        unclear.forEach((index, failure) ->
                failed.put(index, suspects.isGuilty(messages.get(index)) ? failure : unconfirmed(failure)));
        return failed;
    }

    private Exception ofOne(Message message, Exception failure) {
        return failure instanceof RuntimeException || suspects.failedAgain(message) ? failure : unconfirmed(failure);
    }

    /** By the failure's type only: what it says may quote a payload, and this is logged. */
    private StoreException unconfirmed(Exception failure) {
        return new StoreException(
                "The broker of outbox " + outbox + " did not confirm ("
                        + failure.getClass().getName() + ")",
                failure);
    }

    private static Map<Integer, Exception> blamedFor(StoreException outage, List<Integer> indexes) {
        Map<Integer, Exception> failed = new LinkedHashMap<>();
        indexes.forEach(index -> failed.put(index, outage));
        return failed;
    }

    private static List<Integer> indexes(List<Message> messages) {
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            indexes.add(i);
        }
        return indexes;
    }

    /** An outage is not in the history of any message, so it is said here: once when it begins, once when it ends. */
    private void tell(Map<Integer, Exception> failed, boolean confirmed) {
        Optional<Exception> outage = failed.values().stream()
                .filter(StoreException.class::isInstance)
                .findFirst();
        if (outage.isPresent() && away.compareAndSet(false, true)) {
            log.warn(
                    "Outbox {}: its messages are kept and tried again each second: {}",
                    outbox,
                    outage.get().getMessage());
            log.debug("Outbox {}: not confirmed", outbox, outage.get());
        } else if (outage.isEmpty() && confirmed && away.compareAndSet(true, false)) {
            log.info("Outbox {}: the broker confirms again", outbox);
        }
    }
}
