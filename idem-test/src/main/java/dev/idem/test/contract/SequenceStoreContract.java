package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Settlement;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Gap;
import dev.idem.sequence.Sequence;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.SequenceStore;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store must do that knows how far streams are ({@link MarkerStore.Sequenced}), and that keeps what is ahead in its queue.
 * A subclass says how to open the store, and how something is written in its transactions; nothing needs to be empty.
 */
public abstract class SequenceStoreContract extends QueueBench {
    private static final SequenceStore.Deed DEED = new SequenceStore.Deed("TEST", "anna", "because");

    @Test
    @DisplayName("RO-09 a version is applied with the commit of its transaction, and not before")
    void movedWithTheCommit() throws Exception {
        try (UnitOfWork unit = unit()) {
            assertThat(unit.streams().lock(List.of("a", "b"), Duration.ZERO))
                    .containsOnly(Map.entry("a", OptionalLong.empty()), Map.entry("b", OptionalLong.empty()));
            unit.streams().move(Map.of("a", 0L));
            commit(unit);
        }
        assertThat(current("a")).hasValue(0);
        assertThat(current("b")).isEmpty();
        try (Batch batch = batch()) {
            assertThat(batch.streams().lock(List.of("a", "b"), Duration.ZERO).get("a"))
                    .isEqualTo(OptionalLong.of(0));
            batch.streams().move(Map.of("a", Long.MAX_VALUE - 1, "b", 7L));
            batch.commit();
        }
        assertThat(current("a")).hasValue(Long.MAX_VALUE - 1);
        assertThat(current("b")).hasValue(7);
    }

    @Test
    @DisplayName("PC-02 a transaction that is rolled back has moved nothing")
    void undone() throws Exception {
        try (UnitOfWork unit = unit()) {
            unit.streams().lock(List.of("a"), Duration.ZERO);
            unit.streams().move(Map.of("a", 5L));
            unit.rollback();
        }
        try (Batch batch = batch()) {
            batch.streams().lock(List.of("a"), Duration.ZERO);
            batch.streams().move(Map.of("a", 6L));
        }
        assertThat(current("a")).isEmpty();
    }

    @Test
    @DisplayName("RO-10 a stream that somebody has is left out at once, also one that nobody has seen before")
    void passedOver() throws Exception {
        try (UnitOfWork old = unit()) {
            old.streams().lock(List.of("known"), Duration.ZERO);
            old.streams().move(Map.of("known", 1L));
            commit(old);
        }
        try (UnitOfWork owner = unit()) {
            owner.streams().lock(List.of("known", "new"), Duration.ZERO);
            long start = System.nanoTime();
            try (Batch other = batch()) {
                assertThat(other.streams().lock(List.of("known", "new", "free"), Duration.ZERO))
                        .doesNotContainKeys("known", "new");
            }
            try (Batch other = batch()) {
                assertThat(other.streams().lock(List.of("known", "free"), Duration.ZERO))
                        .containsOnlyKeys("free");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            owner.rollback();
        }
        try (Batch next = batch()) {
            assertThat(next.streams().lock(List.of("known", "new"), Duration.ZERO))
                    .containsOnlyKeys("known", "new");
        }
    }

    @Test
    @DisplayName("RO-09 who waits for a stream gets it when the other is done, and sees what that one has applied")
    void waitedFor() throws Exception {
        UnitOfWork owner = unit();
        owner.streams().lock(List.of("a"), Duration.ZERO);
        owner.streams().move(Map.of("a", 3L));
        Future<Map<String, OptionalLong>> waiting = start(() -> {
            try (UnitOfWork unit = unit()) {
                Map<String, OptionalLong> locked = unit.streams().lock(List.of("a"), LONG);
                unit.rollback();
                return locked;
            }
        });
        Thread.sleep(200);
        assertThat(waiting.isDone()).isFalse();
        commit(owner);
        owner.close();
        assertThat(result(waiting)).isEqualTo(Map.of("a", OptionalLong.of(3)));
    }

    @Test
    @DisplayName("PG-12 transactions that name the same streams in any order do not block each other for ever")
    void anyOrder() throws Exception {
        List<String> streams = List.of("a", "b", "c", "d", "e");
        List<Callable<Integer>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(i);
            workers.add(() -> {
                for (int turn = 0; turn < 10; turn++) {
                    List<String> shuffled = new ArrayList<>(streams);
                    Collections.shuffle(shuffled, random);
                    try (UnitOfWork unit = unit()) {
                        Map<String, OptionalLong> locked = unit.streams().lock(shuffled, LONG);
                        assertThat(locked).containsOnlyKeys(streams);
                        long next =
                                locked.getOrDefault("a", OptionalLong.empty()).orElse(0) + 1;
                        unit.streams().move(Map.of("a", next, "e", next));
                        commit(unit);
                    }
                }
                return 0;
            });
        }
        sharedStore();
        inParallel(workers);
        assertThat(current("a")).as("every turn saw the one before").hasValue(40);
        assertThat(current("e")).hasValue(40);
    }

    @Test
    @DisplayName("KY-03 streams whose names look alike are others, and each consumer has its own")
    void lookAlikes() throws Exception {
        List<String> names = List.of("a", "A", "a ", " a", "\u00e4", "a\u0308", "x".repeat(200), "x".repeat(199));
        try (UnitOfWork unit = unit()) {
            assertThat(unit.streams().lock(names, Duration.ZERO)).containsOnlyKeys(names);
            for (int i = 0; i < names.size(); i++) {
                unit.streams().move(Map.of(names.get(i), (long) i));
            }
            commit(unit);
        }
        for (int i = 0; i < names.size(); i++) {
            assertThat(current(names.get(i))).as(names.get(i)).hasValue(i);
        }
        MarkerKey other = new MarkerKey("other-" + name, UUID.randomUUID(), null);
        try (UnitOfWork unit = unit(other)) {
            assertThat(unit.streams().lock(List.of("a"), Duration.ZERO))
                    .containsOnly(Map.entry("a", OptionalLong.empty()));
            unit.rollback();
        }
    }

    @Test
    @DisplayName("RO-09 messages that are stored in any order, twice, are applied in the order of versions, each once")
    void appliedInOrder() throws Exception {
        List<Long> versions = new ArrayList<>();
        for (long version = 1; version <= 8; version++) {
            versions.add(version);
            versions.add(version);
        }
        Collections.shuffle(versions, new Random(7));
        List<Long> applied = Collections.synchronizedList(new ArrayList<>());
        Consumer consumer = consumer(applied);
        for (long version : versions) {
            assertThat(door().accept(consumer, versioned("s", version, fresh())).settlement())
                    .isEqualTo(Settlement.ACK);
        }
        for (Inbox inbox : List.of(inbox(), inbox())) {
            inbox.start(consumer);
        }
        assertThat(becomesTrue(() -> current("s").equals(OptionalLong.of(8)))).isTrue();
        assertThat(applied.stream().distinct()).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
        for (long version = 1; version <= 8; version++) {
            assertThat(effects(effectOf(version))).as("version %s", version).isEqualTo(1);
        }
        assertThat(sequences().gaps(name, 10)).isEmpty();
    }

    @Test
    @DisplayName("RO-09 a gap is listed, and passed by one who has seen it as it is; what waits behind it then goes on")
    void gaps() throws Exception {
        List<Long> applied = Collections.synchronizedList(new ArrayList<>());
        Consumer consumer = consumer(applied);
        for (long version : new long[] {1, 4, 5}) {
            assertThat(door().accept(consumer, versioned("s", version, fresh())).settlement())
                    .isEqualTo(Settlement.ACK);
        }
        inbox().start(consumer);
        SequenceStore sequences = sequences();
        assertThat(becomesTrue(() -> sequences
                        .gap(name, "s")
                        .filter(g -> g.current() == 1 && g.waiting() == 2)
                        .isPresent()))
                .isTrue();
        Gap gap = sequences.gap(name, "s").orElseThrow();
        assertThat(gap.missing()).isEqualTo(2);
        assertThat(gap.next()).isEqualTo(4);
        assertThat(gap.isOpen()).isTrue();
        assertThat(sequences.gaps(name, 10)).extracting(Gap::stream).containsExactly("s");
        Gap other = new Gap(name, "s", 0, 4, 2, 0, Duration.ZERO);
        assertThat(sequences.pass(other, 4, DEED))
                .as("another gap than it is now")
                .isEmpty();
        assertThat(sequences.park(other, DEED)).isEmpty();
        try (UnitOfWork busy = unit()) {
            busy.streams().lock(List.of("s"), LONG);
            assertThat(sequences.pass(gap, 4, DEED))
                    .as("somebody works on the stream")
                    .isEmpty();
            busy.rollback();
        }
        assertThat(sequences.pass(gap, 4, DEED)).isPresent();
        assertThat(sequences.pass(gap, 4, DEED)).as("for the second time").isEmpty();
        assertThat(becomesTrue(() -> current("s").equals(OptionalLong.of(5)))).isTrue();
        assertThat(applied).containsExactly(1L, 4L, 5L);
        assertThat(sequences.gap(name, "s")).isEmpty();
    }

    @Test
    @DisplayName("RO-07 a stream that is parked because of its gap is parked as a whole, and nothing of it runs")
    void parked() throws Exception {
        List<Long> applied = Collections.synchronizedList(new ArrayList<>());
        Consumer consumer = consumer(applied);
        for (long version : new long[] {3, 4}) {
            assertThat(door().accept(consumer, versioned("s", version, fresh())).settlement())
                    .isEqualTo(Settlement.ACK);
        }
        inbox().start(consumer);
        SequenceStore sequences = sequences();
        assertThat(becomesTrue(() ->
                        sequences.gap(name, "s").filter(g -> g.waiting() == 2).isPresent()))
                .isTrue();
        Gap gap = sequences.gap(name, "s").orElseThrow();
        assertThat(sequences.park(gap, DEED)).contains(2);
        assertThat(queue().stats(name).parked()).isEqualTo(2);
        assertThat(applied).isEmpty();
    }

    /** Writes an effect for each version, and says which it was. */
    private Consumer consumer(List<Long> applied) {
        return Consumer.named(name)
                .queued(QueuePolicy.inTransaction().withWorkers(2).withPoll(Duration.ofMillis(20)))
                .sequence(Sequence.by(Message::orderingKey, Sequence.header("version"))
                        .startingAt(Sequence.Start.at(1)))
                .otherwise((message, tx) -> {
                    long version = Long.parseLong(message.header("version").orElseThrow());
                    effect(tx.connection(), effectOf(version));
                    applied.add(version);
                    return "";
                })
                .build();
    }

    private String effectOf(long version) {
        return name + "-" + version;
    }

    private static Message versioned(String stream, long version, String id) {
        return message(id).toBuilder()
                .orderingKey(stream)
                .header("version", Long.toString(version))
                .build();
    }

    private SequenceStore sequences() throws Exception {
        return ((MarkerStore.Sequenced) sharedStore()).sequences();
    }

    private OptionalLong current(String stream) {
        try (UnitOfWork unit = unit()) {
            Map<String, OptionalLong> locked = unit.streams().lock(List.of(stream), LONG);
            unit.rollback();
            return locked.getOrDefault(stream, OptionalLong.empty());
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private UnitOfWork unit() throws Exception {
        return unit(new MarkerKey(name, UUID.randomUUID(), null));
    }

    private UnitOfWork unit(MarkerKey key) throws Exception {
        Claim claim = sharedStore().claim(new ClaimRequest(key, null, Duration.ZERO, false));
        assertThat(claim).isInstanceOf(Claim.Granted.class);
        return ((Claim.Granted) claim).unit();
    }

    private static void commit(UnitOfWork unit) {
        unit.revoke();
        unit.commit(null);
    }

    private Batch batch() throws Exception {
        MarkerKey key = new MarkerKey(name, UUID.randomUUID(), null);
        return ((MarkerStore.Batching) sharedStore())
                .claimAll(List.of(new ClaimRequest(key, null, Duration.ZERO, false)));
    }
}
