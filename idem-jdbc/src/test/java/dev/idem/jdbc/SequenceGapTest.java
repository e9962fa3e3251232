package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.LEASED;
import static dev.idem.jdbc.SequenceBench.TAKEN;
import static dev.idem.jdbc.SequenceBench.message;
import static dev.idem.jdbc.SequenceBench.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import dev.idem.sequence.Gap;
import dev.idem.sequence.GapResolver;
import dev.idem.sequence.Sequence;
import dev.idem.spi.FaultHook;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Gaps in the streams of queued consumers: held, listed, and resolved when their deadline is over. */
class SequenceGapTest {
    private static final String HELD = "status = 3";
    private static final Sequence SHORT = FROM_ONE.gapDeadline(Duration.ofMillis(150));

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 what is ahead is held, listed with its age, and goes on as soon as the missing version comes")
    void heldAndReleased(Database database) {
        for (QueuePolicy policy : List.of(TAKEN, LEASED)) {
            Queue<String> heard = new ConcurrentLinkedQueue<>();
            InboxListener listener = new InboxListener() {
                @Override
                public void held(String consumer, Message held, long missing) {
                    heard.add(held.id().orElseThrow() + " waits for " + missing);
                }
            };
            try (SequenceBench bench = new SequenceBench(database, FaultHook.NONE, listener)) {
                bench.streams("a", "b");
                Consumer consumer = bench.queued(policy, FROM_ONE.gapDeadline(Duration.ofHours(1)));
                bench.inbox.start(consumer);
                bench.inbox.acceptAll(consumer, messages("a", 2, 3));
                bench.inbox.acceptAll(consumer, messages("b", 1, 2));
                bench.awaitApplied("b", 2);
                bench.awaitRows(HELD, 2);
                List<Gap> gaps = bench.inbox.gaps("chain");
                assertThat(gaps).hasSize(1);
                assertThat(gaps.get(0).stream()).isEqualTo("a");
                assertThat(gaps.get(0).missing()).isEqualTo(1);
                assertThat(gaps.get(0).next()).isEqualTo(2);
                assertThat(gaps.get(0).waiting()).isEqualTo(2);
                assertThat(gaps.get(0).age()).isPositive();
                assertThat(bench.inbox.queueStats("chain").held()).isEqualTo(2);
                bench.inbox.accept(consumer, message("a", 1));
                bench.awaitApplied("a", 3);
                bench.awaitRows("1 = 1", 0);
                assertThat(bench.inbox.gaps("chain")).isEmpty();
                await().until(() -> heard.contains("a-2 waits for 1"));
                assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-09 after the deadline a gap is waited for, fetched, skipped, or passed with a snapshot; audited")
    void resolvers(Database database) {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("fetched", "jump-skipped", "jump-snapshot", "waiting");
            AtomicInteger asked = new AtomicInteger();
            GapResolver fetch = GapResolver.fetch(gap -> gap.stream().equals("fetched") && asked.incrementAndGet() > 1
                    ? Optional.of(messages("fetched", gap.missing()))
                    : Optional.empty());
            GapResolver skip = (gap, message) -> gap.stream().equals("jump-skipped")
                    ? GapResolver.skip().decide(gap, message)
                    : GapResolver.waitMore().decide(gap, message);
            GapResolver snapshot =
                    GapResolver.snapshot(message -> message.id().orElseThrow().equals("jump-snapshot-9"));
            Consumer consumer =
                    bench.queued(TAKEN, SHORT.onGap(fetch.orElse(skip).orElse(snapshot)));
            bench.inbox.start(consumer);
            bench.inbox.acceptAll(consumer, messages("fetched", 2));
            bench.inbox.acceptAll(consumer, messages("jump-skipped", 1, 7, 4, 5));
            bench.inbox.acceptAll(consumer, messages("jump-snapshot", 1, 9, 5));
            bench.inbox.acceptAll(consumer, messages("waiting", 2));
            bench.awaitApplied("fetched", 2);
            bench.awaitApplied("jump-skipped", 7);
            bench.awaitApplied("jump-snapshot", 9);
            bench.awaitRows("1 = 1", 1);
            assertThat(asked.get()).as("empty means to be asked again").isGreaterThan(1);
            assertThat(bench.applied("waiting")).isZero();
            assertThat(JdbcAudit.of(JdbcSchema.of(bench.db.plain())).newest())
                    .extracting(entry -> entry.action() + " " + entry.detail())
                    .containsExactlyInAnyOrder(
                            "GAP_SKIPPED stream jump-skipped: from version 2 to 3",
                            "GAP_SKIPPED stream jump-skipped: from version 6 to 6",
                            "GAP_SNAPSHOT stream jump-snapshot: from version 2 to 8");
            bench.inbox.accept(consumer, message("jump-skipped", 3));
            bench.awaitRows("1 = 1", 1); // given up, so it is stale when it comes after all
            assertThat(bench.applied("jump-skipped")).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-07 RO-08 a parked stream stays parked, late ones too, and goes on in order when a person passes the gap"
                    + " while more arrive")
    void parkedAndPassed(Database database) throws Exception {
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("jump", "b");
            JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
            Consumer consumer = bench.queued(TAKEN, SHORT.onGap(GapResolver.parkKey()));
            bench.inbox.start(consumer);
            bench.inbox.acceptAll(consumer, messages("jump", 1, 4, 3));
            bench.inbox.acceptAll(consumer, messages("b", 1));
            bench.awaitRows("status = 4", 2);
            assertThat(bench.db.text("SELECT reason FROM idem_queue WHERE version = 3"))
                    .isEqualTo("GAP");
            assertThat(bench.db.text("SELECT reason FROM idem_queue WHERE version = 4"))
                    .isEqualTo("BEHIND");
            bench.inbox.acceptAll(consumer, messages("jump", 5));
            bench.awaitRows("status = 4", 3);
            bench.awaitApplied("b", 1);
            assertThat(operator.gaps("chain", 10)).hasSize(1);
            long parked = operator.find("chain", "jump-4").orElseThrow();
            assertThat(operator.as("anna", "never").skip(parked).result())
                    .as("only the next version can be given up")
                    .isEqualTo(InboxAnswer.Result.REFUSED);
            assertThat(operator.as("anna", "lost for good").passGap("chain", "jump"))
                    .isTrue();
            assertThat(operator.as("anna", "twice").passGap("chain", "jump")).isFalse();
            Thread arrivals = new Thread(() -> {
                for (long version = 12; version > 5; version--) {
                    bench.inbox.accept(consumer, message("jump", version));
                }
            });
            arrivals.start();
            operator.as("anna", "again").retryAll(InboxFilter.all().withStates(Set.of(QueueState.PARKED)), sum -> {});
            arrivals.join();
            for (int i = 0; bench.applied("jump") < 12 && i < 100; i++) { // those that were parked meanwhile
                operator.as("anna", "again")
                        .retryAll(InboxFilter.all().withStates(Set.of(QueueState.PARKED)), sum -> {});
                Thread.sleep(100);
            }
            bench.awaitApplied("jump", 12);
            bench.awaitRows("1 = 1", 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-07 behind a version that is parked nothing runs and no resolver is asked, until a person retries or"
                    + " skips it")
    void parkedPredecessor(Database database) {
        for (boolean retried : List.of(true, false)) {
            try (SequenceBench bench = new SequenceBench(database)) {
                bench.streams("jump");
                AtomicInteger asked = new AtomicInteger();
                JdbcInbox operator = JdbcInbox.of(JdbcSchema.of(bench.db.plain()));
                bench.failing.add("jump-2");
                Consumer consumer = bench.queued(TAKEN, SHORT.onGap((gap, message) -> {
                    asked.incrementAndGet();
                    return GapResolver.snapshot(any -> true).decide(gap, message);
                }));
                bench.inbox.start(consumer);
                bench.inbox.acceptAll(consumer, messages("jump", 3, 2, 1));
                bench.awaitRows("status = 4", 1);
                bench.awaitApplied("jump", 1);
                await().pollDelay(Duration.ofMillis(400)).until(() -> bench.rows(HELD) == 1);
                assertThat(bench.applied("jump")).isEqualTo(1);
                assertThat(asked).hasValue(0);
                assertThat(operator.gaps("chain", 10)).allMatch(gap -> !gap.isOpen());
                bench.failing.clear();
                long second = operator.find("chain", "jump-2").orElseThrow();
                InboxOperator anna = operator.as("anna", "repaired");
                assertThat((retried ? anna.retry(second) : anna.skip(second)).result())
                        .isEqualTo(InboxAnswer.Result.CHANGED);
                bench.awaitApplied("jump", 3);
            }
        }
    }
}
