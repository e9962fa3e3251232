package dev.idem.jdbc;

import static dev.idem.jdbc.ReplayBench.GIVEN;
import static dev.idem.jdbc.ReplayBench.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Policy.Replay;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.replay.EffectForecast;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a dry run says about effects, and what the session then does. */
class ReplayForecastTest {
    private static final Outbox NOTES = Outbox.named("notes").unordered();

    private final Map<String, Integer> made = new ConcurrentHashMap<>();
    private final Map<String, Integer> suppressed = new ConcurrentHashMap<>();

    /** Charges each order, and mails about those with an even number. The answer about the lost one was lost. */
    private Consumer orders(Replay replay) {
        return Consumer.named("orders")
                .policy(Policy.defaults().withReplay(replay))
                .queued(QueuePolicy.leased(Duration.ofMinutes(1))
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(2)))
                .publishesTo(NOTES)
                .otherwiseSteps((order, steps) -> {
                    String id = order.id().orElseThrow();
                    steps.effect("charge", key -> {
                        made.merge("charge", 1, Integer::sum);
                        if (id.equals("lost")) {
                            throw new IOException("no answer");
                        }
                    });
                    if (id.matches("m[02468]|new1")) {
                        steps.effect("mail", key -> made.merge("mail", 1, Integer::sum));
                    }
                    steps.step(
                            "note", tx -> tx.publish("notes", Message.builder().build()));
                })
                .build();
    }

    private static EffectForecast effect(String name, long answered, long unsettled, long atMost) {
        return new EffectForecast(EffectForecast.Kind.EFFECT, name, answered, unsettled, atMost);
    }

    private static EffectForecast notes(long atMost) {
        return new EffectForecast(EffectForecast.Kind.PUBLICATION, "notes", 0, 0, atMost);
    }

    private static EffectForecast others(long atMost) {
        return new EffectForecast(EffectForecast.Kind.OTHERS, "others", 0, 0, atMost);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-03 a dry run says which effects would be answered, suppressed or made, and the session keeps to it")
    void forecasts(Database database) {
        for (Replay replay : Replay.values()) {
            made.clear();
            suppressed.clear();
            try (ReplayBench bench = new ReplayBench(database);
                    Inbox workers = Inbox.builder(bench.store)
                            .listener(new InboxListener() {
                                @Override
                                public void effectSuppressed(String consumer, String effect) {
                                    suppressed.merge(effect, 1, Integer::sum);
                                }
                            })
                            .build()) {
                Consumer orders = orders(replay);
                List<Message> known =
                        List.of(message("m0"), message("m1"), message("m2"), message("m3"), message("lost"));
                bench.inbox.acceptAll(orders, known);
                workers.start(orders);
                awaitIdle(bench);
                bench.given.addAll(known);
                bench.given.addAll(List.of(message("new1"), message("new2")));
                bench.given.add(Message.builder().build()); // has no key, so it would not run
                bench.replayer(orders);
                bench.anna().dryRun().start("count", "orders", GIVEN);
                ReplaySession counted = bench.awaited("count", State.DONE);
                assertThat(made).as("a dry run makes none").isEqualTo(Map.of("charge", 5, "mail", 2));
                assertThat(counted.effects())
                        .as(replay.name())
                        .containsExactlyElementsOf(
                                switch (replay) {
                                    case FORBIDDEN -> List.of();
                                    case UNDONE_ONLY ->
                                        List.of(
                                                effect("charge", 0, 0, 2),
                                                effect("mail", 0, 0, 2),
                                                notes(2),
                                                others(2));
                                    case ALLOWED, SUPPRESS_EFFECTS ->
                                        List.of(
                                                effect("charge", 4, 1, 2),
                                                effect("mail", 2, 0, 3),
                                                notes(7),
                                                others(3));
                                });
                bench.anna().start("real", "orders", GIVEN);
                assertThat(bench.awaited("real", State.DONE).effects()).isEmpty();
                awaitIdle(bench);
                Map<String, Integer> before = Map.of("charge", 5, "mail", 2);
                Map<String, Integer> more = Map.of("charge", 7, "mail", 3);
                switch (replay) {
                    case FORBIDDEN -> assertThat(made).isEqualTo(before);
                    case UNDONE_ONLY, ALLOWED -> assertThat(made).isEqualTo(more);
                    case SUPPRESS_EFFECTS -> {
                        assertThat(made).isEqualTo(before);
                        assertThat(suppressed).isEqualTo(Map.of("charge", 3, "mail", 1, "notes", 7));
                    }
                }
            }
        }
    }

    /** Nothing is left to do, but by a person. */
    private static void awaitIdle(ReplayBench bench) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> bench.db.number("SELECT count(*) FROM idem_queue q JOIN idem_consumer c ON c.number ="
                                + " q.consumer WHERE c.name = 'orders' AND q.status < 4")
                        == 0);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an executor that takes a dry run over goes on with what the first has counted")
    void takenOver(Database database) {
        try (ReplayBench bench = new ReplayBench(database)) {
            Consumer orders = orders(Replay.ALLOWED);
            bench.registered(orders);
            bench.given.addAll(List.of(message("new1"), message("new2")));
            bench.anna().dryRun().start("count", "orders", GIVEN);
            var store = bench.store.replays();
            ReplaySession dead = store.claim(java.util.Set.of("orders"), "dead", Duration.ofMinutes(5))
                    .orElseThrow();
            store.progress(
                    dead,
                    new dev.idem.spi.ReplayStore.Step(
                            Replay.ALLOWED,
                            "0",
                            java.util.OptionalLong.empty(),
                            ReplaySession.Counts.none(),
                            null,
                            List.of(effect("charge", 5, 1, 3), effect("mail", 2, 0, 4), notes(9), others(4))),
                    Duration.ofMinutes(5));
            bench.db.execute("UPDATE idem_replay SET lease_until = 1");
            bench.replayer(orders);
            assertThat(bench.awaited("count", State.DONE).effects())
                    .containsExactly(effect("charge", 5, 1, 5), effect("mail", 2, 0, 6), notes(11), others(6));
        }
    }
}
