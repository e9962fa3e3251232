package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.Counts;
import dev.idem.replay.ReplaySession.State;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store must do that keeps replay sessions ({@link MarkerStore.Replaying}). A subclass says how to open the store, and
 * how a person asks for sessions and stops them; nothing needs to be empty.
 */
public abstract class ReplayStoreContract extends ContractBench {
    private static final Duration SHORT_LEASE = Duration.ofMillis(200);
    private static final Duration LONG_LEASE = Duration.ofMinutes(1);
    private static final Counts SOME = new Counts(7, 1, 2, 0, 1, 2, 1);

    private final String consumer = "contract-" + UUID.randomUUID().toString().substring(0, 13);

    /** A person asks for a session of a consumer that the store knows. */
    protected abstract void ask(String session, String consumer) throws Exception;

    protected abstract void pause(String session) throws Exception;

    protected abstract void resume(String session) throws Exception;

    protected abstract void abort(String session) throws Exception;

    @Test
    @DisplayName("PC-01 of any number of executors one takes a session, and others of other consumers none")
    void takenByOne() throws Exception {
        String session = asked();
        assertThat(replays().find(session)).map(ReplaySession::state).contains(State.REQUESTED);
        assertThat(replays().claim(List.of("other-" + consumer), "stranger", LONG_LEASE))
                .isEmpty();
        List<Callable<Optional<ReplaySession>>> executors = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String worker = "worker " + i;
            executors.add(() -> replays().claim(List.of("other-" + consumer, consumer), worker, LONG_LEASE));
        }
        List<ReplaySession> taken =
                inParallel(executors).stream().flatMap(Optional::stream).toList();
        assertThat(taken).singleElement().satisfies(mine -> {
            assertThat(mine.name()).isEqualTo(session);
            assertThat(mine.state()).isEqualTo(State.RUNNING);
            assertThat(mine.leaseUntil()).isPresent();
            assertThat(mine.cursor()).isEmpty();
            assertThat(mine.counts()).isEqualTo(Counts.none());
        });
        assertThat(replays().find(session))
                .map(s -> s.worker())
                .isEqualTo(Optional.of(taken.get(0).worker()));
    }

    @Test
    @DisplayName("the oldest session is taken first")
    void oldestFirst() throws Exception {
        String first = asked();
        Thread.sleep(5);
        String second = asked();
        assertThat(claim("a").name()).isEqualTo(first);
        assertThat(claim("b").name()).isEqualTo(second);
    }

    @Test
    @DisplayName(
            "RP-04 LS-01 a session whose lease has run out is taken over, from its last step on; the late one says nothing more")
    void takenOver() throws Exception {
        asked();
        ReplayStore replays = replays();
        ReplaySession late =
                replays.claim(List.of(consumer), "late", SHORT_LEASE).orElseThrow();
        assertThat(replays.progress(late, step("at 7", SOME, null), SHORT_LEASE))
                .isPresent();
        List<ReplaySession> taken = new ArrayList<>();
        assertThat(becomesTrue(() -> !taken.isEmpty()
                        || replays.claim(List.of(consumer), "next", LONG_LEASE)
                                .map(taken::add)
                                .orElse(false)))
                .isTrue();
        ReplaySession next = taken.get(0);
        assertThat(next.fence()).isGreaterThan(late.fence());
        assertThat(next.cursor()).contains("at 7");
        assertThat(next.counts()).isEqualTo(SOME);
        assertThat(replays.progress(late, step("at 9", SOME, null), LONG_LEASE)).isEmpty();
        assertThat(replays.progress(late, null, LONG_LEASE)).isEmpty();
        assertThat(replays.end(late, State.DONE, null)).isFalse();
        replays.release(late);
        assertThat(replays.claim(List.of(consumer), "third", LONG_LEASE)).isEmpty();
        assertThat(replays.find(next.name())).contains(next);
    }

    @Test
    @DisplayName("a step is written down with its counts, which add up; without one only the lease is longer")
    void progress() throws Exception {
        asked();
        ReplayStore replays = replays();
        ReplaySession mine = replays.claim(List.of(consumer), "me", SHORT_LEASE).orElseThrow();
        replays.progress(mine, step("ä;1", SOME, "one was given up"), SHORT_LEASE);
        ReplaySession now =
                replays.progress(mine, step("ä;2", SOME, null), LONG_LEASE).orElseThrow();
        assertThat(now.cursor()).contains("ä;2");
        assertThat(now.total()).hasValue(100);
        assertThat(now.policy()).contains(Policy.Replay.ALLOWED);
        assertThat(now.counts()).isEqualTo(SOME.plus(SOME));
        ReplaySession longer =
                replays.progress(mine, null, LONG_LEASE.multipliedBy(2)).orElseThrow();
        assertThat(longer.counts()).isEqualTo(now.counts());
        assertThat(longer.cursor()).isEqualTo(now.cursor());
        assertThat(longer.leaseUntil().orElseThrow()).isAfter(now.leaseUntil().orElseThrow());
    }

    @Test
    @DisplayName("RP-04 what a person wants is told with the next step, and an executor cannot end it any more")
    void aPersonIsFaster() throws Exception {
        String session = asked();
        ReplayStore replays = replays();
        ReplaySession mine = claim("me");
        pause(session);
        assertThat(replays.progress(mine, step("at 1", SOME, null), LONG_LEASE))
                .map(ReplaySession::state)
                .contains(State.PAUSED);
        assertThat(replays.end(mine, State.DONE, null)).isFalse();
        replays.release(mine);
        assertThat(replays.claim(List.of(consumer), "next", LONG_LEASE)).isEmpty();
        resume(session);
        ReplaySession next = claim("next");
        assertThat(next.cursor()).contains("at 1");
        abort(session);
        assertThat(replays.progress(next, null, LONG_LEASE))
                .map(ReplaySession::state)
                .contains(State.ABORTED);
        assertThat(replays.end(next, State.DONE, null)).isFalse();
        replays.release(next);
        assertThat(replays.claim(List.of(consumer), "third", LONG_LEASE)).isEmpty();
        assertThat(replays.find(session)).map(ReplaySession::state).contains(State.ABORTED);
    }

    @Test
    @DisplayName(
            "a session that is released can be taken at once; one that has ended cannot, and one that failed after it is resumed")
    void letGoAndEnded() throws Exception {
        String session = asked();
        ReplayStore replays = replays();
        replays.release(claim("first"));
        ReplaySession second = claim("second");
        assertThat(replays.end(second, State.FAILED, "the source is gone")).isTrue();
        assertThat(replays.find(session)).map(ReplaySession::state).contains(State.FAILED);
        assertThat(replays.find(session)).map(s -> s.error()).contains(Optional.of("the source is gone"));
        assertThat(replays.claim(List.of(consumer), "third", LONG_LEASE)).isEmpty();
        resume(session);
        ReplaySession fourth = claim("fourth");
        assertThat(replays.end(fourth, State.DONE, null)).isTrue();
        assertThat(replays.end(fourth, State.DONE, null)).isFalse();
        assertThat(replays.claim(List.of(consumer), "fifth", LONG_LEASE)).isEmpty();
    }

    @Test
    @DisplayName("KY-03 a session is found by its name, and by no other")
    void found() throws Exception {
        String session = asked();
        assertThat(replays().find(session)).isPresent();
        assertThat(replays().find(session.toUpperCase(Locale.ROOT))).isEmpty();
        assertThat(replays().find(session + ".")).isEmpty();
        assertThat(replays().find("none-" + session)).isEmpty();
    }

    @Test
    @DisplayName("the keys that have markers are told, of their consumer alone")
    void marked() throws Exception {
        Message done = message(fresh());
        assertThat(deliver(inbox(), done)).isInstanceOf(Outcome.Processed.class);
        MarkerKey marked = ConsumerPlan.of(consumer()).keyOf(done).orElseThrow();
        MarkerKey unmarked = ConsumerPlan.of(consumer()).keyOf(message(fresh())).orElseThrow();
        ReplayStore replays = replays();
        assertThat(replays.marked(marked.consumer(), List.of(marked, unmarked))).containsExactly(marked);
        sharedStore().register(consumer);
        MarkerKey elsewhere = new MarkerKey(consumer, marked.value(), marked.readable());
        assertThat(replays.marked(consumer, List.of(elsewhere))).isEmpty();
        assertThat(replays.horizon(consumer)).isEmpty();
    }

    private String asked() throws Exception {
        sharedStore().register(consumer);
        String session = "s-" + UUID.randomUUID();
        ask(session, consumer);
        return session;
    }

    private ReplaySession claim(String worker) throws Exception {
        return replays().claim(List.of(consumer), worker, LONG_LEASE).orElseThrow();
    }

    private ReplayStore replays() throws Exception {
        return ((MarkerStore.Replaying) sharedStore()).replays();
    }

    private static ReplayStore.Step step(String cursor, Counts counts, @Nullable String error) {
        return new ReplayStore.Step(Policy.Replay.ALLOWED, cursor, OptionalLong.of(100), counts, error, null);
    }
}
