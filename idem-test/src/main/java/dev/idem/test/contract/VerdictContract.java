package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Fingerprint;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.ResultCodec;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.spi.FaultPoint;
import dev.idem.test.FlakyStore;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TimeZone;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** What a marker says about the next delivery: the same verdict on every path. */
abstract class VerdictContract extends KeyContract {

    @Test
    @DisplayName("KY-06 PC-14 the same id with one byte changed is a conflict, by process and by accept")
    void otherPayloadIsAConflict() throws Exception {
        Message message = message(fresh()).toBuilder().type("paid").build();
        for (Inbox process : List.of(inbox(), inbox())) {
            deliver(process, message);
            assertConflict(deliver(process, tampered(message)));
            assertConflict(process.accept(accepting(consumer()), tampered(message)));
            assertThat(process.accept(accepting(consumer()), message)).isInstanceOf(Outcome.Duplicate.class);
        }
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-14 a UUID id is compared as well")
    void otherPayloadUnderAUuidIsAConflict() throws Exception {
        Message message = message(java.util.UUID.randomUUID().toString());
        Inbox inbox = inbox();
        deliver(inbox, message);
        assertConflict(deliver(inbox, tampered(message)));
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-14 a twin with another payload that waited for the owner is a conflict")
    void waitingTwinWithOtherPayloadIsAConflict() throws Exception {
        Message message = message(fresh());
        Inbox here = inbox();
        Inbox elsewhere = inbox();
        Owner owner = Owner.of(this, here, message);
        Future<Outcome<String>> sameProcess = start(() -> deliverUntilSettled(here, consumer(), tampered(message)));
        Future<Outcome<String>> otherProcess =
                start(() -> deliverUntilSettled(elsewhere, consumer(), tampered(message)));
        owner.commits();
        assertConflict(result(sameProcess));
        assertConflict(result(otherProcess));
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PG-15 PC-12 a commit whose answer was lost is found again and was processed once")
    void lostAnswerIsFoundAgain() throws Exception {
        Message message = message(fresh());
        Inbox inbox = inbox(Inbox.builder(FlakyStore.around(store()).loseAnswers(1)));
        AtomicInteger runs = new AtomicInteger();
        Outcome<String> outcome = deliver(inbox, consumer(), message, tx -> "run " + runs.incrementAndGet());
        assertThat(outcome).isEqualTo(new Outcome.Processed<>("run 1"));
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Duplicate.class);
        assertConflict(deliver(inbox, tampered(message)));
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PG-15 a commit that was lost on its way runs again")
    void lostCommitRunsAgain() throws Exception {
        Message message = message(fresh());
        Inbox inbox = inbox(Inbox.builder(FlakyStore.around(store()).loseCommits(2)));
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-14 after an unknown commit, a marker of somebody else with another payload is a conflict")
    void otherPayloadAfterUnknownCommitIsAConflict() throws Exception {
        Message message = message(fresh());
        Inbox rival = inbox();
        Inbox inbox =
                inbox(Inbox.builder(FlakyStore.around(store()).loseCommits(1)).steps((step, key) -> {
                    if (step == FaultPoint.BEFORE_RETRY) {
                        unchecked(() -> result(start(() -> deliver(rival, tampered(message)))));
                    }
                }));
        assertConflict(deliver(inbox, message));
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("KY-06 without a fingerprint the key alone decides, also when only one side has one")
    void fingerprintCanBeSwitchedOff() throws Exception {
        Consumer off = consumer(p -> p.withFingerprint(Fingerprint.off()));
        Inbox inbox = inbox();
        Message message = message(fresh());
        deliver(inbox, off, message);
        assertThat(deliver(inbox, off, tampered(message))).isInstanceOf(Outcome.Duplicate.class);
        assertThat(deliver(inbox, consumer(), tampered(message))).isInstanceOf(Outcome.Duplicate.class);
        Message marked = message(fresh());
        deliver(inbox, marked);
        assertThat(deliver(inbox, off, tampered(marked))).isInstanceOf(Outcome.Duplicate.class);
    }

    @Test
    @DisplayName("the first result is stored and answers every duplicate, byte for byte")
    void storedResultAnswersDuplicates() throws Exception {
        Inbox inbox = inbox();
        for (String result : List.of("", "receipt 1", "\u20ac\0\ud83d\ude00 '\"\\", "x".repeat(50_000))) {
            Message message = message(fresh());
            Outcome<String> first = noted(
                    message, inbox.process(consumer(), message, ResultCodec.text(), tx -> effect(tx, message, result)));
            assertThat(first).isEqualTo(new Outcome.Processed<>(result));
            for (Inbox reader : List.of(inbox, inbox())) {
                Outcome<String> again = reader.process(
                        consumer(), message, ResultCodec.text(), tx -> effect(tx, message, "second result"));
                assertThat(storedResult(again)).contains(result);
            }
            assertDoneOnce(message);
        }
    }

    @Test
    @DisplayName("a result that nobody stored, or that another codec stored, is left out")
    void absentResultIsLeftOut() throws Exception {
        Inbox inbox = inbox();
        Message without = message(fresh());
        deliver(inbox, without);
        assertThat(storedResult(inbox.process(consumer(), without, ResultCodec.text(), tx -> "again")))
                .isEmpty();
        Message with = message(fresh());
        assertThat(inbox.process(consumer(), with, ResultCodec.text(), tx -> effect(tx, with, "kept")))
                .isInstanceOf(Outcome.Processed.class);
        assertThat(storedResult(deliver(inbox, with))).isEmpty();
    }

    @Test
    @DisplayName("a result that cannot be encoded leaves nothing")
    void unwritableResultLeavesNothing() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        assertThatThrownBy(() -> inbox.process(consumer(), message, unwritable(), tx -> effect(tx, message, "x")))
                .isNotInstanceOf(StoreException.class)
                .hasMessageContaining("unwritable");
        assertNothingLeft(message);
        assertThat(deliver(inbox, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @ResourceLock(Resources.TIME_ZONE)
    @DisplayName("LS-08 the time in a marker is now, whatever the time zones of writer and reader are")
    void markerTimeDoesNotDependOnTheTimeZone() throws Exception {
        TimeZone before = TimeZone.getDefault();
        try {
            for (String zone : List.of("UTC", "Pacific/Kiritimati", "America/St_Johns", "Pacific/Pago_Pago")) {
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                Message message = message(fresh());
                deliver(inbox(), message);
                assertProcessedNow(deliver(inbox(), message));
                TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
                assertProcessedNow(deliver(inbox(), message));
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    private static Optional<String> storedResult(Outcome<String> outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Duplicate.class);
        return ((Outcome.Duplicate<String>) outcome).storedResult();
    }

    private static void assertProcessedNow(Outcome<String> outcome) {
        Instant now = Instant.now();
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Duplicate.class,
                        duplicate -> assertThat(duplicate.markedAt())
                                .isBetween(now.minusSeconds(120), now.plusSeconds(120)));
    }

    static void assertConflict(Outcome<?> outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Conflict.class);
        assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
    }

    /** The same consumer with a handler, for {@code accept}. */
    final Consumer accepting(Consumer consumer) {
        return Consumer.named(consumer.name())
                .key(consumer.key())
                .policy(consumer.policy())
                .on("paid", PayloadDecoder.message(), (m, tx) -> effect(tx, m, "done"))
                .build();
    }

    final String effect(dev.idem.Transaction tx, Message message, String result) throws Exception {
        writeEffect(tx, effectOf(message));
        return result;
    }

    private static void unchecked(java.util.concurrent.Callable<?> action) {
        try {
            action.call();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static ResultCodec<String> unwritable() {
        return new ResultCodec<>() {
            @Override
            public String name() {
                return "unwritable";
            }

            @Override
            public byte[] encode(String result) throws Exception {
                throw new Exception("cannot be written");
            }

            @Override
            public String decode(byte[] bytes) {
                return new String(bytes, StandardCharsets.UTF_8);
            }
        };
    }
}
