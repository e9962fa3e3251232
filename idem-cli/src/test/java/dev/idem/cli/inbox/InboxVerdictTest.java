package dev.idem.cli.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.ResultCodec;
import dev.idem.RetryPolicy;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a person decides where the inbox must not: versions that will not come, and effects nobody knows of. */
@Timeout(60)
class InboxVerdictTest {
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    private final List<String> done = new CopyOnWriteArrayList<>();

    private Inbox inbox() {
        var dataSource = new JdbcDataSource();
        dataSource.setURL(url);
        return Inbox.create(JdbcStore.create(dataSource));
    }

    private Cli run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("inbox"));
        all.addAll(Arrays.asList(arguments));
        all.addAll(List.of("--url", url));
        return Cli.run(all.toArray(String[]::new));
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(20);
        }
    }

    @Test
    @DisplayName("RO-09 gaps are listed, and a stream goes on behind one when a person says so")
    void gaps() throws Exception {
        Consumer balances = Consumer.named("balances")
                .queued(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(50)))
                .sequence(Sequence.by(Message::orderingKey, m -> m.version().map(Long::valueOf))
                        .startingAt(Sequence.Start.at(1))
                        .gapDeadline(Duration.ofDays(1)))
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    return done.add(message.id().orElseThrow());
                })
                .build();
        try (Inbox inbox = inbox()) {
            inbox.start(balances);
            assertThat(run("gaps", "--consumer", "balances").out()).contains("Nothing waits");
            inbox.accept(balances, version(1));
            inbox.accept(balances, version(3));
            until(() -> !inbox.gaps("balances").isEmpty());
            assertThat(run("gaps", "--consumer", "balances")
                            .out()
                            .lines()
                            .toList()
                            .get(1))
                    .matches("account-17 +1 +2 +3 +1 +0  no +\\d+m?s.*");
            assertThat(run("gaps", "--consumer", "balances", "--json").out()).contains("\"missing\":2,\"next\":3");
            assertThat(run("pass", "no-such", "--consumer", "balances", "--reason", "lost")
                            .code())
                    .isEqualTo(ExitCodes.CHECK_FAILED);
            Cli misspelt = run("gaps", "--consumer", "balance");
            assertThat(misspelt.code()).isEqualTo(ExitCodes.CHECK_FAILED);
            assertThat(misspelt.err()).contains("There is no consumer balance. There are: balances. See");
            assertThat(run("pass", "account-17", "--consumer", "balance", "--reason", "lost")
                            .err())
                    .contains("There is no consumer balance.");
            Cli passed = run("pass", "account-17", "--consumer", "balances", "--reason", "lost");
            assertThat(passed.out()).contains("Stream account-17 goes on.");
            until(() -> done.contains("v3"));
            assertThat(done).containsExactly("v1", "v3");
        }
    }

    private static Message version(int number) {
        return Message.builder()
                .id("v" + number)
                .orderingKey("account-17")
                .version(Integer.toString(number))
                .build();
    }

    @Test
    @DisplayName(
            "HX-14 what a person has found out about an unknown effect is answered to the handler, or lets it be made")
    void effects() throws Exception {
        List<String> calls = new CopyOnWriteArrayList<>();
        Consumer orders = Consumer.named("orders")
                .queued(QueuePolicy.leased(Duration.ofMinutes(1))
                        .withPoll(Duration.ofMillis(50))
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(1))))
                .otherwiseSteps((message, steps) -> done.add(steps.effect("charge", ResultCodec.text(), key -> {
                    calls.add(key.value());
                    if (calls.size() < 3) {
                        throw new IllegalStateException("no answer");
                    }
                    return "receipt";
                })))
                .build();
        try (Inbox inbox = inbox()) {
            inbox.start(orders);
            inbox.accept(orders, Message.of("m1", new byte[0]));
            until(() -> inbox.queueStats("orders").parked() == 1);
            inbox.accept(orders, Message.of("m2", new byte[0]));
            until(() -> inbox.queueStats("orders").parked() == 2);
            assertThat(run("show", "1").out()).contains("effect", "charge, UNKNOWN, key " + calls.get(0));
            assertThat(run("effect", "1", "mail", "--made", "--reason", "seen").code())
                    .isEqualTo(ExitCodes.CHECK_FAILED);
            assertThat(run("effect", "1", "charge", "--reason", "seen").code()).isEqualTo(ExitCodes.USAGE);
            Cli unanswered = run("effect", "1", "charge", "--made", "--reason", "seen");
            assertThat(unanswered.code()).isEqualTo(ExitCodes.ERROR);
            assertThat(unanswered.err())
                    .contains("The handler wants a result of effect charge, by codec text", "--answer")
                    .doesNotContain("Exception");
            assertThat(run("show", "1").out()).as("nothing was said").contains("charge, UNKNOWN");
            assertThat(run("effect", "1", "charge", "--not-made", "--answer", "x", "--reason", "seen")
                            .code())
                    .isEqualTo(ExitCodes.USAGE);
            assertThat(run("effect", "1", "charge", "--made", "--answer", "by hand", "--reason", "seen")
                            .code())
                    .isEqualTo(ExitCodes.OK);
            assertThat(run("effect", "2", "charge", "--not-made", "--reason", "unknown there")
                            .code())
                    .isEqualTo(ExitCodes.OK);
            run("retry", "1", "2", "--reason", "decided");
            until(() -> done.size() == 2);
            assertThat(done).containsExactlyInAnyOrder("by hand", "receipt");
            assertThat(calls).hasSize(3);
            assertThat(calls.get(2)).isEqualTo(calls.get(1));
        }
    }
}
