package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.ListenerState;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultHook;
import dev.idem.spi.FaultPoint;
import dev.idem.test.CrashPoint;
import dev.idem.test.contract.BrokerUnderTest.Listening;
import dev.idem.test.contract.BrokerUnderTest.Sent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every broker adapter keeps, whatever its broker: each message has its effect once, is settled only when the effect
 * is committed, and is never lost. Runs on a real broker and a real database.
 */
@Timeout(180)
public abstract class BrokerContract extends ListenerContract {
    @Test
    void everyMessageHasItsEffectAndIsSettled() throws Exception {
        send(0, 200);
        Listening listener = listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(200);
        awaitSettled();
        assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
        send(200, 300);
        awaitEffects(300);
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("PC-01 what a producer sends twice has its effect once, and both are settled")
    void duplicates() throws Exception {
        send(0, 50);
        send(0, 50);
        listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(50);
        awaitSettled();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("PC-02 a consumer that is gone between commit and acknowledgement: delivered again, and done once")
    void goneAfterTheCommit() throws Exception {
        goneAt(FaultPoint.AFTER_COMMIT);
    }

    @Test
    @DisplayName("PC-02 a consumer that is gone before the commit: delivered again, and done once")
    void goneBeforeTheCommit() throws Exception {
        goneAt(FaultPoint.BEFORE_COMMIT);
    }

    /** The first consumer stops for good at a step, with a message in its hands; another one takes over. */
    private void goneAt(FaultPoint step) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CrashPoint stuck = CrashPoint.at(step).with(() -> {
            try {
                never.await();
            } catch (InterruptedException closing) {
                throw new IllegalStateException("closed while it was stuck", closing);
            }
        });
        send(0, 20);
        Listening first = listen(inbox(stuck), writer(message -> {}));
        until("the first consumer is stuck", stuck::fired);
        assertThat(requireBroker().unsettled())
                .as("nothing is settled before its commit")
                .isPositive();
        first.close(Duration.ofMillis(500));
        listeners.remove(first);
        listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(20);
        awaitSettled();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("RO-01 a poisonous message is tried as often as it may, set aside with its story, and holds up nobody")
    void poison() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Optional<List<String>> warnings = requireBroker().warnings();
        send(0, 5);
        requireBroker().send(message("bad", "bad-key"));
        send(5, 10);
        Policy redacting = Policy.defaults().withRedaction(text -> text.replace("secret", "******"));
        listen(inbox(FaultHook.NONE), writer(builder -> builder.policy(redacting), message -> {
            if (message.id().orElseThrow().equals("bad")) {
                runs.incrementAndGet();
                throw new IllegalStateException("secret payload text");
            }
        }));
        awaitEffects(10);
        awaitSettled();
        assertThat(runs).hasValue(3);
        List<Letter> letters = letters();
        assertThat(letters).singleElement().satisfies(letter -> {
            DeadLetter about = letter.about();
            assertThat(about.consumer()).isEqualTo("payments");
            assertThat(about.reason()).isEqualTo("EXHAUSTED");
            assertThat(about.attempts()).isEqualTo(3);
            assertThat(about.error()).contains(IllegalStateException.class.getName());
            assertThat(about.detail()).contains("****** payload text");
            assertThat(about.origin()).isNotEmpty();
            assertThat(letter.message().id()).contains("bad");
            assertThat(letter.message().orderingKey()).contains("bad-key");
            assertThat(letter.message().payload()).isEqualTo(bytes("payload of bad"));
            assertThat(letter.message().headers("h"))
                    .extracting(Header::text)
                    .containsExactlyElementsOf(requireBroker().repeatsHeaders() ? List.of("1", "2") : List.of("2"));
            assertThat(letter.message().headers())
                    .noneMatch(header -> header.text().contains("secret"));
        });
        warnings.ifPresent(BrokerContract::assertPoisonIsTold);
    }

    /** Its first failure and its end, with the cause and without what was redacted; in between nothing. */
    private static void assertPoisonIsTold(List<String> warnings) {
        String why = ": " + IllegalStateException.class.getName() + ": ****** payload text at ";
        assertThat(warnings)
                .filteredOn(line -> line.startsWith("payments: message bad "))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("payments: message bad failed, and is tried again" + why)
                                .hasLineCount(1),
                        line -> assertThat(line)
                                .startsWith("payments: message bad is set aside (EXHAUSTED) after 3 failed runs" + why)
                                .contains("\tat "));
        assertThat(warnings).noneMatch(line -> line.contains("secret"));
    }

    @Test
    @DisplayName(
            "RO-01 where the consumer parks, a poisonous message is kept in the inbox, and known there from then on")
    void parked() throws Exception {
        Inbox inbox = inbox(FaultHook.NONE);
        Consumer parking = writer(builder -> builder.parking(QueuePolicy.inTransaction()), message -> {
            if (message.id().orElseThrow().equals("bad")) {
                throw new TerminalException("never", null);
            }
        });
        requireBroker().send(message("bad", "key"));
        send(0, 5);
        listen(inbox, parking);
        awaitEffects(5);
        awaitSettled();
        assertThat(inbox.queueStats("payments").parked()).isEqualTo(1);
        requireBroker().send(message("bad", "key"));
        send(5, 6);
        awaitEffects(6);
        awaitSettled();
        assertThat(inbox.queueStats("payments").parked())
                .as("the second delivery was a duplicate")
                .isEqualTo(1);
        assertThat(letters()).isEmpty();
        assertEachOnceInOrder();
    }

    @Test
    void aMessageWithoutAnIdIsSetAside() throws Exception {
        requireBroker().send(new Sent("", "k", "no id", List.of()));
        send(0, 1);
        listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(1);
        awaitSettled();
        assertThat(letters()).singleElement().satisfies(letter -> {
            assertThat(letter.about().reason()).isEqualTo("REJECTED");
            assertThat(letter.about().detail().orElseThrow()).contains("KEY_MISSING");
            assertThat(letter.message().payload()).isEqualTo(bytes("no id"));
        });
    }

    @Test
    @DisplayName(
            "MQ-10 RP-02 dead letters sent again are the same messages, have their effect once, and are gone from the letters")
    void replay() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        send(0, 10);
        listen(inbox(FaultHook.NONE), writer(message -> {
            if (broken.get()) {
                throw new TerminalException("not yet", null);
            }
        }));
        until("all are set aside", () -> letters().size() == 10);
        awaitSettled();
        broken.set(false);
        try (DeadLetters letters = requireBroker().deadLetters()) {
            assertThat(LetterReplay.of(LetterFilter.all()).dryRun(letters).sent())
                    .isEqualTo(10);
        }
        assertThat(replay(LetterFilter.all().id("m3")).sent()).isEqualTo(1);
        awaitEffects(1);
        assertThat(letters())
                .extracting(letter -> letter.message().id().orElseThrow())
                .hasSize(9)
                .doesNotContain("m3");
        assertThat(replay(LetterFilter.all()).sent()).isEqualTo(9);
        awaitEffects(10);
        awaitSettled();
        assertThat(letters()).isEmpty();
        assertThat(replay(LetterFilter.all()).sent()).isZero();
        assertThat(effects()).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName(
            "KF-18 a database that is away: nothing is settled, no attempt is lost, and all is done when it is back")
    void databaseOutage() throws Exception {
        AtomicBoolean away = new AtomicBoolean();
        AtomicInteger asked = new AtomicInteger();
        Inbox inbox = Inbox.create(store(leaving(requireDatabase(), away, asked)));
        inboxes.add(inbox);
        inbox.register(writer(message -> {}));
        away.set(true);
        send(0, 30);
        Listening listener = listen(inbox, writer(message -> {}));
        until("the listener waits", () -> listener.state() == ListenerState.WAITING);
        int before = asked.get();
        Thread.sleep(3_000);
        assertThat(asked.get() - before).as("asked in three seconds").isLessThan(60);
        assertThat(requireBroker().unsettled()).isEqualTo(30);
        away.set(false);
        awaitEffects(30);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertThat(letters()).isEmpty();
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName(
            "a broker that is killed and comes back: the listener goes on by itself, and each effect is there once")
    void brokerOutage() throws Exception {
        send(0, 30);
        Listening listener = listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(30);
        requireBroker().kill();
        Thread.sleep(1_000);
        requireBroker().restart();
        send(30, 60);
        awaitEffects(60);
        awaitSettled();
        until("the listener runs", () -> listener.state() == ListenerState.RUNNING);
        assertEachOnceInOrder();
    }

    @Test
    @DisplayName("closing finishes what was begun, settles it, and gives back the rest")
    void gracefulClose() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        send(0, 100);
        Listening listener = listen(inbox(FaultHook.NONE), writer(message -> {
            begun.countDown();
            Thread.sleep(5);
        }));
        begun.await();
        listener.close(Duration.ofSeconds(20));
        assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        int done = effects().size();
        assertThat(requireBroker().unsettled())
                .as("what is done is settled, and nothing else")
                .isEqualTo(100L - done);
        listen(inbox(FaultHook.NONE), writer(message -> {}));
        awaitEffects(100);
        awaitSettled();
        assertEachOnceInOrder();
    }
}
