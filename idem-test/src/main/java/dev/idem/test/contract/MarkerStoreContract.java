package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What every store must do. A subclass says how to open the store; JUnit runs the rest. Nothing needs to be empty, and a
 * failing test names the pitfall it found.
 *
 * <pre>{@code
 * class MyStoreTest extends MarkerStoreContract {
 *     protected MarkerStore store() { return new MyStore(SERVER); }
 *     protected MarkerStore unrelatedStore() { return new MyStore(OTHER_SERVER); }
 * }
 * }</pre>
 *
 * <p>Where a handler writes through the store's own transaction, use {@link TransactionalStoreContract}, which also
 * counts what was written.
 */
public abstract class MarkerStoreContract extends BatchContract {
    /** Opens a store that shares nothing with the others: another database, or other tables. */
    protected abstract MarkerStore unrelatedStore() throws Exception;

    @Test
    @DisplayName("PG-01 a hot key with a slow owner and 50 duplicates does not hold up other keys")
    void hotKeyDoesNotStarveOthers() throws Exception {
        Inbox inbox = inbox();
        Message hot = message(fresh());
        Owner owner = Owner.of(this, inbox, hot);
        CountDownLatch delivered = new CountDownLatch(50);
        List<Future<Outcome<String>>> duplicates = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            duplicates.add(start(() -> {
                delivered.countDown();
                return deliverUntilSettled(inbox, consumer(), hot);
            }));
        }
        await(delivered);

        List<Message> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Message other = message(fresh());
            others.add(other);
            assertThat(result(start(() -> deliver(inbox, other)))).isInstanceOf(Outcome.Processed.class);
        }
        assertThat(duplicates).noneMatch(Future::isDone);

        owner.commits();
        for (Future<Outcome<String>> duplicate : duplicates) {
            assertThat(result(duplicate)).isInstanceOf(Outcome.Duplicate.class);
        }
        assertDoneOnce(hot);
        for (Message other : others) {
            assertDoneOnce(other);
        }
    }

    @Test
    @DisplayName("OP-04 listeners that throw or block change nothing")
    void listenersChangeNothing() throws Exception {
        CountDownLatch unblock = new CountDownLatch(1);
        Inbox inbox = inbox(Inbox.builder(store())
                .listener(new InboxListener() {
                    @Override
                    public void settled(Delivery delivery) {
                        throw new AssertionError("a listener that throws");
                    }
                })
                .listener(new InboxListener() {
                    @Override
                    public void settled(Delivery delivery) {
                        try {
                            unblock.await();
                        } catch (InterruptedException closing) {
                            Thread.currentThread().interrupt();
                        }
                    }
                }));
        try {
            for (int i = 0; i < 20; i++) {
                Message message = message(fresh());
                assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
                assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Duplicate.class);
                assertDoneOnce(message);
            }
        } finally {
            unblock.countDown();
        }
    }

    @Test
    @DisplayName("OP-03 keys that are done with are not kept in this process")
    void doneKeysAreForgotten() throws Exception {
        List<WeakReference<MarkerKey>> keys = new ArrayList<>();
        Inbox inbox = inbox(Inbox.builder(store()).steps((step, key) -> {
            if (step == FaultPoint.BEFORE_CLAIM) {
                keys.add(new WeakReference<>(key));
            }
        }));
        for (int i = 0; i < 100; i++) {
            deliver(inbox, message(fresh()));
        }
        assertThat(becomesTrue(() -> {
                    System.gc();
                    return keys.stream().filter(key -> key.get() != null).count() < 50;
                }))
                .as("most of 100 keys are garbage")
                .isTrue();
    }

    @Test
    @DisplayName("HX-16 two inboxes of one process on two stores do not know of each other")
    void twoStoresInOneProcessDoNotMix() throws Exception {
        Message message = message(fresh());
        Inbox here = inbox();
        Inbox there = inbox(Inbox.builder(unrelatedStore()));
        Outcome<String> nested = here.process(consumer(), message, tx -> {
            Outcome<String> inner = there.process(consumer(), message, other -> "there");
            assertThat(inner).isEqualTo(new Outcome.Processed<>("there"));
            return "here";
        });
        assertThat(nested).isEqualTo(new Outcome.Processed<>("here"));
        assertThat(here.process(consumer(), message, tx -> "again")).isInstanceOf(Outcome.Duplicate.class);
        assertThat(there.process(consumer(), message, tx -> "again")).isInstanceOf(Outcome.Duplicate.class);
    }

    @Test
    @DisplayName("a store says what it is and what it promises")
    void storeDescribesItself() throws Exception {
        assertThat(sharedStore().describe()).isNotBlank().doesNotContain("\n");
        assertThat(sharedStore().guarantee()).isNotNull();
    }
}
