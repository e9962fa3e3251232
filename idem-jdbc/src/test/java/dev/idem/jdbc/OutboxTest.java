package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultPoint;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a handler publishes shares the fate of its effect. */
class OutboxTest {
    private static List<Message> orders(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(OutboxBench.order("m" + i, "k" + i % 3));
        }
        return messages;
    }

    private static Consumer publishing() {
        return OutboxBench.orders()
                .otherwise((order, tx) -> {
                    tx.publish("shipments", OutboxBench.shipment(order));
                    Db.pay(tx.connection(), order.id().orElseThrow());
                    if (new String(order.payload(), java.nio.charset.StandardCharsets.UTF_8).equals("m3")) {
                        throw new IllegalStateException("m3 fails after publishing");
                    }
                    return null;
                })
                .build();
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-12 what a handler publishes and then takes back by failing is not published")
    void ghost(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            assertThat(bench.inbox.accept(publishing(), Db.message("m3"))).isInstanceOf(Outcome.Failed.class);
            assertThat(bench.rows()).isZero();
            assertThat(bench.inbox.accept(publishing(), Db.message("m4"))).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.inbox.accept(publishing(), Db.message("m4"))).isInstanceOf(Outcome.Duplicate.class);
            assertThat(bench.rows()).isEqualTo(1);
            assertThat(bench.db.markers())
                    .as("a row of the outbox has no marker")
                    .isEqualTo(1);
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.payloads()).containsExactly("m4");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-12 in a batch, what a failed message published goes with it, and the others' is published once")
    void batchIsolation(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            List<Outcome<?>> outcomes = bench.inbox.acceptAll(publishing(), orders(30));
            assertThat(outcomes.get(3)).isInstanceOf(Outcome.Failed.class);
            long held = outcomes.stream().filter(Outcome.Held.class::isInstance).count();
            assertThat(held).as("those of its key behind it").isEqualTo(8);
            assertThat(bench.rows()).isEqualTo(30 - 1 - held);
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.payloads())
                    .doesNotContain("m3")
                    .doesNotHaveDuplicates()
                    .hasSize(21);
            assertThat(bench.db.payments()).isEqualTo(21);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a batch handler publishes for each of its messages; what it fails is not published")
    void batchHandlers(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            Consumer together = OutboxBench.orders()
                    .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.REFUSE))
                    .otherwiseAll((orders, tx) -> {
                        for (int i = 0; i < orders.size(); i++) {
                            tx.publish(i, "shipments", OutboxBench.shipment(orders.get(i)));
                            if (orders.get(i).id().orElseThrow().equals("m3")) {
                                tx.fail(i, new IllegalStateException("not this one"));
                            }
                        }
                    })
                    .build();
            List<Message> orders = orders(10).stream()
                    .map(m -> m.toBuilder().orderingKey(null).build())
                    .toList();
            assertThat(bench.inbox.acceptAll(together, orders))
                    .filteredOn(Outcome.Processed.class::isInstance)
                    .hasSize(9);
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.payloads()).hasSize(9).doesNotContain("m3").doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("ids depend on consumer, message and index alone, so a run that is repeated publishes the same")
    void sameIds(Database database) throws Exception {
        List<List<String>> runs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            try (OutboxBench bench = new OutboxBench(database)) {
                AtomicInteger failures = new AtomicInteger(i); // the second world needs two runs
                Consumer twice = OutboxBench.orders()
                        .otherwise((order, tx) -> {
                            tx.publish("shipments", OutboxBench.shipment(order));
                            tx.publish("shipments", OutboxBench.shipment(order));
                            tx.publish("shipments", Db.message(tx.outputId("mail")));
                            if (failures.getAndDecrement() > 0) {
                                throw new IllegalStateException("once");
                            }
                            return null;
                        })
                        .build();
                for (Message message : List.of(
                        Db.message("m1"),
                        Db.message("m1"),
                        Db.message("m2"),
                        Db.message("01890a5d-ac96-774b-bcce-b302099a8057"))) {
                    bench.inbox.accept(twice, message);
                }
                bench.inbox.accept(twice, Db.message("m1"));
                bench.relay(QueuePolicy.inTransaction().withWorkers(1));
                bench.awaitEmpty();
                runs.add(bench.ids().stream().sorted().toList());
            }
        }
        assertThat(runs.get(0)).hasSize(9).doesNotHaveDuplicates().isEqualTo(runs.get(1));
        assertThat(runs.get(0).stream().filter(id -> id.startsWith("01890a5d-ac96-7")))
                .as("keeps the time of a UUIDv7")
                .hasSize(3)
                .allMatch(id -> UUID.fromString(id).version() == 7);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("an output tells its cause and what it all began with, unless the handler has said it")
    void headers(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            bench.inbox.accept(publishing(), Db.message("m1"));
            bench.inbox.accept(
                    publishing(),
                    Db.message("m2").toBuilder()
                            .header(Outbox.CORRELATION_ID, "c")
                            .build());
            bench.relay(QueuePolicy.inTransaction().withWorkers(1));
            bench.awaitEmpty();
            assertThat(bench.published.get(0).header(Outbox.CAUSATION_ID)).contains("m1");
            assertThat(bench.published.get(0).header(Outbox.CORRELATION_ID)).contains("m1");
            assertThat(bench.published.get(1).header(Outbox.CAUSATION_ID)).contains("m2");
            assertThat(bench.published.get(1).header(Outbox.CORRELATION_ID)).contains("c");
            assertThat(bench.published.get(1).source()).contains("orders");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-10 a process that dies right after its commit leaves rows that another one finds and publishes, in order")
    void diesAfterTheCommit(Database database) {
        try (OutboxBench bench = new OutboxBench(database, (step, key) -> {
            if (step == FaultPoint.AFTER_COMMIT && key.consumer().equals("orders")) {
                throw new IllegalStateException("dies here");
            }
        })) {
            for (int i = 0; i < 6; i++) {
                bench.inbox.accept(publishing(), OutboxBench.order("n" + i, "k" + i % 2));
            }
            assertThat(bench.rows()).isEqualTo(6);
            assertThat(bench.published).isEmpty();
            bench.relay();
            bench.awaitEmpty();
            assertThat(bench.payloads().stream().filter(p -> Integer.parseInt(p.substring(1)) % 2 == 0))
                    .containsExactly("n0", "n2", "n4");
            assertThat(bench.payloads()).hasSize(6);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a joined handler publishes with the owner's transaction, or not at all")
    void joined(Database database) throws Exception {
        try (OutboxBench bench = new OutboxBench(database)) {
            bench.relay();
            for (boolean commits : new boolean[] {false, true}) {
                try (Connection outer = bench.db.plain().getConnection()) {
                    outer.setAutoCommit(false);
                    Provisional<Object> answer = bench.inbox
                            .within(outer)
                            .process(OutboxBench.orders().build(), OutboxBench.order("m1", "k"), tx -> {
                                tx.publish("shipments", OutboxBench.shipment(tx.message()));
                                return "";
                            });
                    answer.confirm();
                    if (commits) {
                        outer.commit();
                    } else {
                        outer.rollback();
                    }
                    assertThat(answer.settlement(commits)).isEqualTo(commits ? Settlement.ACK : Settlement.RETRY);
                }
                if (!commits) {
                    assertThat(bench.rows()).isZero();
                }
            }
            bench.awaitEmpty();
            assertThat(bench.payloads()).containsExactly("m1");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a destination that was not declared is refused, and the known ones are told")
    void unknownDestination(Database database) {
        try (OutboxBench bench = new OutboxBench(database)) {
            assertThatThrownBy(() -> bench.inbox.process(
                            OutboxBench.orders()
                                    .publishesTo(Outbox.named("mails"))
                                    .build(),
                            Db.message("m1"),
                            tx -> {
                                tx.publish("shipment", Db.message("x"));
                                return "";
                            }))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'shipment'")
                    .hasMessageContaining("mails, shipments");
            assertThat(bench.rows()).isZero();
            assertThat(bench.db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a queued handler publishes, one chain of keys after another, and a pool of few connections suffices")
    void queuedHandlers(Database database) {
        for (QueuePolicy policy : List.of(QueuePolicy.inTransaction(), QueuePolicy.leased(OutboxBench.LONG))) {
            try (OutboxBench bench = new OutboxBench(database)) {
                Consumer queued = OutboxBench.orders()
                        .queued(policy.withOrderByKey())
                        .otherwise((order, tx) -> {
                            tx.publish("shipments", OutboxBench.shipment(order));
                            return null;
                        })
                        .build();
                bench.relay();
                bench.inbox.start(queued);
                bench.inbox.acceptAll(queued, orders(60));
                bench.awaitEmpty();
                for (int key = 0; key < 3; key++) {
                    int mine = key;
                    assertThat(bench.payloads().stream()
                                    .map(p -> Integer.parseInt(p.substring(1)))
                                    .filter(n -> n % 3 == mine)
                                    .toList())
                            .isSorted()
                            .hasSize(20);
                }
            }
        }
    }
}
