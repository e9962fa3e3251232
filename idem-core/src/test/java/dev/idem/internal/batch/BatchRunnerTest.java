package dev.idem.internal.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BatchFixture;
import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.TransientStoreException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What becomes of a batch whose transaction, or whose thread, comes to grief. */
class BatchRunnerTest extends BatchFixture {
    private static final Policy TWICE = Policy.defaults().withMaxRuns(2);
    private final CommitUnknownException lost = new CommitUnknownException("lost", null);

    @Test
    @DisplayName("PG-15 the answer is lost and the markers are there: processed, and not run again")
    void lostAnswer() {
        store.nextCommit(batch -> {
            batch.apply();
            throw lost;
        });
        assertThat(inbox.acceptAll(each(writing()), messages("a", "b")))
                .containsExactly(new Outcome.Processed<>("did a"), new Outcome.Processed<>("did b"));
        assertThat(store.effects).containsExactly("a", "b");
        assertThat(events()).containsExactly("commitUnknown", "ranAgain 2", "Processed", "Processed");
        assertThat(steps).containsOnlyOnce("BEFORE_RETRY");
    }

    @Test
    @DisplayName("PG-15 the answer is lost and the markers are not there: run again")
    void lostCommit() {
        store.nextCommit(batch -> {
            throw lost;
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("Processed");
        assertThat(store.effects).containsExactly("a", "b");
    }

    @Test
    @DisplayName("PG-15 the answer is lost and somebody else has the keys by now: a duplicate, or busy")
    void lostCommitAndRivals() {
        Inbox rival = Inbox.create(store);
        store.nextCommit(batch -> {
            Thread other = new Thread(() -> rival.acceptAll(each((m, tx) -> null), messages("a")));
            other.start();
            join(other);
            store.busy.add("b");
            throw lost;
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b", "c"))))
                .containsExactly("Duplicate", "Busy", "Processed");
        assertThat(store.effects).containsExactly("c");
    }

    @Test
    void withoutRunsLeftTheQuestionStaysOpen() {
        store.nextCommit(batch -> {
            batch.apply();
            throw lost;
        });
        assertThat(kinds(inbox.acceptAll(each(Policy.defaults().withMaxRuns(1), writing()), messages("a", "b"))))
                .containsOnly("INFRASTRUCTURE");
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("Duplicate");
    }

    @Test
    @DisplayName("RO-01 one message that always meets a deadlock does not hold up the others")
    void transientForEver() {
        Consumer consumer = each(TWICE, (message, tx) -> {
            if (id(message).equals("b")) {
                throw new SQLTransientException("deadlock, always");
            }
            store.write(id(message));
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "INFRASTRUCTURE", "Processed");
        assertThat(store.effects).containsExactly("a", "c");
    }

    @Test
    @DisplayName("RO-01 nor does one among the messages of a batch handler")
    void transientForEverTogether() {
        Consumer consumer = all(TWICE, (events, tx) -> {
            for (Message event : events) {
                store.write(id(event));
                if (id(event).equals("b")) {
                    throw new SQLTransientException("deadlock, always");
                }
            }
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c", "d"))))
                .containsExactly("Processed", "INFRASTRUCTURE", "Processed", "Processed");
        assertThat(store.effects).containsExactly("a", "c", "d");
    }

    @Test
    @DisplayName("RO-01 nor does one whose deferred statement always meets a deadlock")
    void transientForEverDeferred() {
        Consumer consumer = each(TWICE, (message, tx) -> {
            tx.defer(id(message));
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "transient b", "c"))))
                .containsExactly("Processed", "INFRASTRUCTURE", "Processed");
        assertThat(store.effects).containsExactly("a", "c");
    }

    @Test
    @DisplayName("PG-05 RO-01 an answer to the commit that nobody understands, and a grant: found by halves, at once")
    void commitAnswered() {
        Consumer consumer = each(Policy.defaults().withMaxRuns(1), writing());
        for (int i = 0; i < 2; i++) {
            store.nextCommit(batch -> {
                throw new CommitUnknownException("answered", null, true);
            });
        }
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("RETRYABLE", "Processed", "Processed");
        assertThat(store.effects).containsExactly("b", "c");
        assertThat(store.claims)
                .containsExactly(
                        List.of("a", "b", "c"), List.of("a", "b", "c"), List.of("a"), List.of("a"), List.of("b", "c"));
    }

    @Test
    @DisplayName("MY-10 RO-01 answers that are always lost are found by halves, and become the message's own failure")
    void alwaysLost() {
        Consumer consumer = each(TWICE, writing());
        List<String> kinds = new ArrayList<>();
        for (int delivery = 0; delivery < 3; delivery++) {
            kinds.add(kinds(inbox.acceptAll(consumer, messages("good", "poison", "fine")))
                    .get(1));
        }
        assertThat(kinds).containsExactly("INFRASTRUCTURE", "RETRYABLE", "RETRYABLE");
        assertThat(store.effects).containsExactlyInAnyOrder("good", "fine");
    }

    @Test
    @DisplayName("PG-20 RO-01 a lost connection is looked for among all that ran before, not only where it was met")
    void lostConnection() {
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = each(TWICE, (message, tx) -> {
            store.write(id(message));
            boolean met = id(message).equals("b") && runs.incrementAndGet() <= 2;
            if (met) {
                throw new SQLTransientConnectionException("gone, since a or b");
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c")))).containsOnly("Processed");
        assertThat(store.claims)
                .containsExactly(List.of("a", "b", "c"), List.of("a", "b", "c"), List.of("a"), List.of("b", "c"));
    }

    @Test
    @DisplayName("PG-05 a commit that is refused for one message's sake is found by halves")
    void commitRefused() {
        for (int i = 0; i < 2; i++) {
            store.nextCommit(batch -> {
                throw new CommitRefusedException("deferred constraint", null);
            });
        }
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b", "c"))))
                .containsExactly("RETRYABLE", "Processed", "Processed");
        assertThat(store.claims).containsExactly(List.of("a", "b", "c"), List.of("a"), List.of("b", "c"));
    }

    @Test
    @DisplayName("PC-07 a transaction that is broken at its end is found by halves, and told of")
    void brokenAtTheEnd() {
        for (int i = 0; i < 2; i++) {
            store.nextCommit(batch -> {
                throw new BrokenTransactionException("gone", false, null);
            });
        }
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b"))))
                .containsExactly("RETRYABLE", "Processed");
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE", "Processed");
    }

    @Test
    void anOutageInOneHalfEndsTheOther() {
        store.nextCommit(batch -> {
            throw new CommitRefusedException("somebody's", null);
        });
        store.nextClaim(() -> {}).nextClaim(() -> {
            throw new StoreException("down", null);
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("INFRASTRUCTURE");
        assertThat(store.claims).hasSize(2);
    }

    @Test
    @DisplayName("PC-10 a hidden commit: those before it are processed, the culprit is for a person, the rest runs")
    void hiddenCommit() {
        store.nextCommit(batch -> {
            batch.grantedKeys().subList(2, 4).forEach(batch::giveUp);
            throw new HiddenCommitException(
                    Set.of(batch.grantedKeys().get(1)),
                    Set.of(batch.grantedKeys().get(0)),
                    null);
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b", "c", "d"))))
                .containsExactly("Processed", "TERMINAL", "Processed", "Processed");
        assertThat(store.claims.get(1)).containsExactly("c", "d");
        assertThat(events()).containsExactly("broken", "Processed", "Failed TERMINAL", "Processed", "Processed");
    }

    @Test
    @DisplayName("PC-10 a marker of ours that we never sent is a hidden commit")
    void hiddenCommitAndALostConnection() {
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                store.running().apply();
                throw new SQLTransientException("and then the connection was lost");
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b")))).containsOnly("TERMINAL");
    }

    @Test
    @DisplayName("PC-10 whoever failed in a transaction that somebody committed is told so, and does not come again")
    void hiddenCommitAndAFailureBeforeIt() {
        AtomicInteger runs = new AtomicInteger();
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("a") && store.claims.size() == 1) {
                throw new IllegalStateException("no");
            }
            if (id(message).equals("b") && runs.incrementAndGet() == 1) {
                store.running().apply();
                store.markers.put("a", store.markers.get("b"));
                throw new SQLTransientException("and then the connection was lost");
            }
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b")))).containsOnly("TERMINAL");
        assertThat(store.claims).hasSize(3);
        assertThat(store.claims.get(2)).containsExactly("a");
        assertThat(events()).containsExactly("ranAgain 2", "broken", "broken", "Failed TERMINAL", "Failed TERMINAL");
    }

    @Test
    @DisplayName("HX-03 an interrupt ends the handlers, what was done is committed, and the flag is restored")
    void interruptedHandler() {
        Consumer consumer = each((message, tx) -> {
            if (id(message).equals("b")) {
                throw new InterruptedException("stop");
            }
            store.write(id(message));
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b", "c"))))
                .containsExactly("Processed", "INFRASTRUCTURE", "INFRASTRUCTURE");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(store.effects).containsExactly("a");
    }

    @Test
    @DisplayName("HX-03 a flag that a handler leaves behind waits until the transaction has ended")
    void interruptedFlag() {
        store.nextCommit(batch -> {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            batch.apply();
        });
        Consumer consumer = each((message, tx) -> {
            Thread.currentThread().interrupt();
            return null;
        });
        assertThat(kinds(inbox.acceptAll(consumer, messages("a", "b")))).containsExactly("Processed", "INFRASTRUCTURE");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("HX-03 a thread that comes interrupted, or is interrupted between two runs, gets outcomes")
    void interruptedOutside() {
        Thread.currentThread().interrupt();
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("INFRASTRUCTURE");
        assertThat(Thread.interrupted()).isTrue();
        store.nextClaim(() -> {
            Thread.currentThread().interrupt();
            throw new TransientStoreException("down", null);
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("INFRASTRUCTURE");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("Processed");
    }

    @Test
    @DisplayName("HX-02 an error of the store or a hook is an outage, an error of the virtual machine is thrown")
    void errors() {
        store.nextClaim(() -> {
            throw new LinkageError("a driver");
        });
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("INFRASTRUCTURE");
        store.nextClaim(() -> {
            throw new InternalError("the machine");
        });
        assertThatThrownBy(() -> inbox.acceptAll(each(writing()), messages("a")))
                .isInstanceOf(InternalError.class);
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a")))).containsOnly("Processed");
    }

    @Test
    @DisplayName("PC-03 a twin in this process makes its own message busy and no other")
    void twinInThisProcess() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        FutureTask<List<String>> other = new FutureTask<>(() -> kinds(inbox.acceptAll(
                each((message, tx) -> {
                    running.countDown();
                    end.await();
                    return null;
                }),
                messages("b"))));
        new Thread(other).start();
        running.await();
        List<String> mine = kinds(inbox.acceptAll(each((m, tx) -> null), messages("a", "b", "c")));
        end.countDown();
        assertThat(mine).containsExactly("Processed", "Busy", "Processed");
        assertThat(other.get()).containsExactly("Processed");
    }

    @Test
    void aClosedInboxLeavesNoUnitOnTheThread() {
        inbox.close();
        assertThat(kinds(inbox.acceptAll(each(writing()), messages("a", "b")))).containsOnly("INFRASTRUCTURE");
        assertThat(store.effects).containsExactly("closed without end");
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }
}
