package dev.idem.jdbc.admin;

import static dev.idem.jdbc.admin.InboxAnswer.Result.CHANGED;
import static dev.idem.jdbc.admin.InboxAnswer.Result.MISSING;
import static dev.idem.jdbc.admin.InboxAnswer.Result.REFUSED;
import static dev.idem.jdbc.admin.InboxAnswer.Result.UNCHANGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.TerminalException;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an operator sees and does. */
class InboxOperatorTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("every action is audited with who, why and what; done twice it changes and audits nothing")
    void auditedAndIdempotent(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            long id = bench.store(InboxBench.PLAIN, "m1").get(0);
            InboxOperator anna = bench.operator.as("anna\u0000", "the bank said \u001b[31mno");

            assertThat(anna.park(id).result()).isEqualTo(CHANGED);
            assertThat(anna.park(id).result()).isEqualTo(UNCHANGED);
            assertThat(anna.retry(id).to()).contains(QueueState.RECEIVED);
            assertThat(anna.retry(id).result()).isEqualTo(UNCHANGED);
            assertThat(anna.skip(id).to()).contains(QueueState.FAILED_TERMINAL);
            assertThat(anna.skip(id).result()).isEqualTo(UNCHANGED);
            assertThat(anna.park(id).result()).isEqualTo(REFUSED);
            assertThat(anna.skip(4711).result()).isEqualTo(MISSING);

            List<InboxMessage.Audit> audit =
                    bench.operator.show(id).orElseThrow().audit();
            assertThat(audit).extracting(InboxMessage.Audit::action).containsExactly("PARK", "RETRY", "SKIP");
            assertThat(audit).allSatisfy(entry -> {
                assertThat(entry.actor()).isEqualTo("anna\uFFFD");
                assertThat(entry.reason()).isEqualTo("the bank said \u001b[31mno");
            });
            assertThat(audit.get(2).detail()).isEqualTo("message " + id + ": RECEIVED → FAILED_TERMINAL");
            assertThat(bench.audits()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a filter is worked off 500 at a time; a dry run counts the same and changes nothing")
    void filters(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            bench.store(
                    InboxBench.PLAIN,
                    IntStream.range(0, 30).mapToObj(i -> "m" + i).toArray(String[]::new));
            for (int i = 0; i < 6; i++) { // copies, past the door
                bench.db.execute(
                        "INSERT INTO idem_queue (stored_at, due_at, message_key, consumer, status, readable,"
                                + " message_type, ordering_key, reason, head, payload) SELECT stored_at, due_at, message_key,"
                                + " consumer, status, readable, message_type, ordering_key, 'COPY', head, payload FROM idem_queue");
            }
            InboxFilter copies = InboxFilter.all().withConsumer("payments").withReason("COPY");
            List<InboxAnswer.Sum> progress = new ArrayList<>();

            assertThat(bench.anna().dryRun().parkAll(copies, sum -> {}).changed())
                    .isEqualTo(1890);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status <> 0"))
                    .isZero();
            assertThat(bench.anna().parkAll(copies, progress::add).changed()).isEqualTo(1890);

            assertThat(progress).extracting(InboxAnswer.Sum::changed).containsExactly(500L, 1000L, 1500L, 1890L);
            assertThat(bench.audits()).isEqualTo(1890);
            assertThat(bench.db.number("SELECT count(*) FROM idem_queue WHERE status = 4"))
                    .isEqualTo(1890);
            assertThat(bench.anna().parkAll(copies, sum -> {}).matched()).isZero();
            assertThat(bench.anna()
                            .skipAll(InboxFilter.all().withType("refunded"), sum -> {})
                            .matched())
                    .isZero();
            assertThat(bench.anna()
                            .retryAll(InboxFilter.all().withOlderThan(Duration.ofDays(1)), sum -> {})
                            .matched())
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-08 a retried message keeps its place: behind an earlier one of its key it waits; a skip releases the rest")
    void order(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(InboxBench.ORDERED, "a1", "a2", "a3", "b1");
            assertThat(bench.state(ids.get(1))).isEqualTo(QueueState.HELD);
            InboxFilter key = InboxFilter.all().withConsumer("payments").withOrderingKey("a");
            assertThat(bench.anna().parkAll(key, sum -> {}).changed()).isEqualTo(3);

            assertThat(bench.anna().retry(ids.get(1)).to()).contains(QueueState.HELD);
            assertThat(bench.state(ids.get(1))).isEqualTo(QueueState.HELD);
            assertThat(bench.anna().skip(ids.get(0)).result()).isEqualTo(CHANGED);
            assertThat(bench.state(ids.get(1))).as("released").isEqualTo(QueueState.RECEIVED);
            assertThat(bench.anna().retryAll(key, sum -> {}).changed()).isEqualTo(1);
            assertThat(bench.state(ids.get(2))).isEqualTo(QueueState.HELD);

            assertThat(bench.anna().retry(ids.get(0)).result()).isEqualTo(REFUSED);
            assertThat(bench.anna().force().retry(ids.get(0)).to()).contains(QueueState.RECEIVED);
            bench.inbox.start(InboxBench.consumer(InboxBench.ORDERED));
            await().atMost(Duration.ofSeconds(20)).until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 0);
            assertThat(bench.db.payments()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-02 a retry keeps id, headers and payload, and gives the message all its attempts again")
    void retryKeepsEverything(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            long id = bench.store(InboxBench.PLAIN, "m1").get(0);
            bench.db.execute("UPDATE idem_queue SET started = 9, failed = 9, error = head");
            String columns = "SELECT concat(head, payload, message_key) FROM idem_queue";
            String before = bench.db.kind() == Database.MARIADB ? bench.db.text(columns) : "";
            bench.put(id, QueueState.PARKED, false);
            bench.anna().retry(id);
            InboxMessage.Detail after = bench.operator.show(id).orElseThrow();
            assertThat(after.message().started() + after.message().failed()).isZero();
            assertThat(after.message().messageId()).isEqualTo("m1");
            assertThat(after.headers()).containsExactly(new InboxMessage.Header("token", 12));
            assertThat(bench.operator.payload(id)).hasValue("m1".getBytes(StandardCharsets.UTF_8));
            assertThat(bench.db.kind() == Database.MARIADB ? bench.db.text(columns) : "")
                    .isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("pages of a list neither repeat nor leave out, in both directions, with every filter")
    void pages(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            List<Long> ids = bench.store(
                    InboxBench.PLAIN,
                    IntStream.range(0, 25)
                            .mapToObj(i -> (i % 2 == 0 ? "a" : "b") + i)
                            .toArray(String[]::new));
            InboxFilter even = InboxFilter.all()
                    .withConsumer("payments")
                    .withStates(QueueState.RECEIVED, QueueState.PARKED)
                    .withType("paid")
                    .withOrderingKey("a")
                    .withOlderThan(Duration.ZERO);
            for (JdbcInbox.Sorted sorted : JdbcInbox.Sorted.values()) {
                List<Long> seen = new ArrayList<>();
                Optional<Long> after = Optional.empty();
                do {
                    InboxMessage.Page page = bench.operator.list(even, sorted, 4, after);
                    page.messages().forEach(message -> seen.add(message.id()));
                    after = page.next();
                } while (after.isPresent());
                List<Long> expected = IntStream.range(0, 13)
                        .map(i -> sorted == JdbcInbox.Sorted.NEWEST_FIRST ? 12 - i : i)
                        .mapToObj(i -> ids.get(2 * i))
                        .toList();
                assertThat(seen).isEqualTo(expected);
            }
            assertThat(bench.operator
                            .list(even.withConsumer("nobody"), JdbcInbox.Sorted.OLDEST_FIRST, 4, Optional.empty())
                            .messages())
                    .isEmpty();
            assertThat(bench.operator.stats()).singleElement().satisfies(stats -> {
                assertThat(stats.consumer()).isEqualTo("payments");
                assertThat(stats.pending()).isEqualTo(25);
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-25 SE-07 hostile error texts are recorded, capped and shown, and the message can be skipped")
    void hostileTexts(Database database) {
        List<String> texts = List.of("NUL \0 NUL", "\u001b[2J\r\nforged", "\uD800 alone", "x".repeat(10_000_000), "");
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.inTransaction())
                    .otherwise((message, tx) -> {
                        throw new TerminalException(texts.get(message.payload()[0]), null);
                    })
                    .build();
            for (int i = 0; i < texts.size(); i++) {
                bench.inbox.accept(
                        consumer,
                        Message.builder()
                                .id("i\u001b[31m" + i)
                                .type("t\0\n" + i)
                                .payload(new byte[] {(byte) i})
                                .build());
            }
            bench.inbox.start(consumer);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bench.operator.stats().get(0).parked() == texts.size());
            List<InboxMessage> parked = bench.operator
                    .list(InboxFilter.all(), JdbcInbox.Sorted.OLDEST_FIRST, 10, Optional.empty())
                    .messages();
            assertThat(parked.get(0).error()).contains("NUL \0 NUL");
            assertThat(parked.get(1).error()).contains("\u001b[2J\r\nforged");
            assertThat(parked.get(2).error()).contains("? alone");
            assertThat(parked.get(3).error().orElseThrow()).hasSize(4096);
            assertThat(parked.get(0).type()).contains("t\uFFFD\n0");
            for (InboxMessage message : parked) {
                InboxMessage.Detail detail = bench.operator.show(message.id()).orElseThrow();
                assertThat(detail.attempts()).singleElement().satisfies(attempt -> {
                    assertThat(attempt.errorType()).isEqualTo(TerminalException.class.getName());
                    assertThat(attempt.error()).isEqualTo(message.error().orElseThrow());
                    assertThat(attempt.worker()).contains("/payments-");
                });
                assertThat(bench.anna().skip(message.id()).result()).isEqualTo(CHANGED);
            }
        }
    }

    @Test
    @DisplayName("a message whose head cannot be read can be listed, shown and skipped")
    void unreadableHead() {
        try (InboxBench bench = new InboxBench(Database.H2)) {
            long id = bench.store(InboxBench.PLAIN, "m1").get(0);
            for (String head : List.of("X'63'", "X'01'", "X''", "X'010000000500'", "X'01FFFFFFF0'")) {
                bench.db.execute("UPDATE idem_queue SET head = " + head);
                assertThat(bench.operator.show(id).orElseThrow().unreadable())
                        .as(head)
                        .isPresent();
            }
            assertThat(bench.anna().skip(id).result()).isEqualTo(CHANGED);
        }
    }

    @Test
    @DisplayName("who and why must be said, and fit")
    void whoAndWhy() {
        try (InboxBench bench = new InboxBench(Database.H2)) {
            assertThatThrownBy(() -> bench.operator.as(" ", "why")).hasMessageContaining("actor");
            assertThatThrownBy(() -> bench.operator.as("anna", "")).hasMessageContaining("reason");
            assertThatThrownBy(() -> bench.operator.as("a".repeat(201), "why")).hasMessageContaining("201");
        }
    }
}
