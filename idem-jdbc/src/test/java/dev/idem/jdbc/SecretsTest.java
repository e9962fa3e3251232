package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that carry SQL, and contents that nobody may read in a log. */
class SecretsTest {
    private static final String CANARY = "canary-7f3a";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                "idem;",
                "idem'",
                "idem\"",
                "idem`",
                "idem--",
                "idem/*",
                "idem\n",
                "idem\u0000",
                "Idem_",
                "1dem_",
                "idem-",
                "idem.",
                "idem$",
                "${marker}",
                "id\u00e9m",
                "\u0131dem_",
                "idem_\uff41",
                "idem)(",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "x; DROP TABLE payment; --",
                "idem_\\",
                "idem_%s",
                ":name"
            })
    @DisplayName("SE-01 a prefix or schema that is no plain name is refused before any SQL is made of it")
    void aNameThatCarriesSqlIsRefused(String name) {
        try (Db db = Db.fresh(Database.H2)) {
            assertThatThrownBy(() -> JdbcStore.builder(db.plain()).prefix(name).build())
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcStore.builder(db.plain()).schema(name).build())
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcSchema.script(Database.H2, name, "idem_"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> JdbcSchema.script(Database.H2, null, name))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-01 tables of another prefix in another schema serve as well, side by side with the default ones")
    void otherNamesServe(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            db.execute("CREATE SCHEMA "
                    + (database == Database.MARIADB ? db.text("SELECT CONCAT(DATABASE(), '_x')") : "side"));
            String schema = database == Database.MARIADB ? db.text("SELECT CONCAT(DATABASE(), '_x')") : "side";
            try (Inbox inbox = Inbox.create(JdbcStore.builder(db.plain())
                            .schema(schema)
                            .prefix("shop_")
                            .schemaMode(SchemaMode.CREATE)
                            .build());
                    Inbox standard = db.inbox()) {
                StorePath.check(db, inbox);
                assertThat(db.number("SELECT count(*) FROM " + schema + ".shop_marker"))
                        .isEqualTo(8);
                assertThat(standard.run("payments", Db.message("walk-1"), Transaction::nothingToDo))
                        .isInstanceOf(Outcome.Processed.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("SE-04 payload and headers are in no log line and no exception of ours")
    void payloadAndHeadersAreNeverTold(Database database) throws Exception {
        Message message = Message.builder()
                .id("1")
                .type("paid")
                .payload(CANARY.getBytes(StandardCharsets.UTF_8))
                .header("secret", CANARY)
                .build();
        List<Throwable> thrown = new ArrayList<>();
        try (Db db = Db.fresh(database);
                CapturedLog log = CapturedLog.of("dev.idem");
                Inbox inbox = db.inbox()) {
            Consumer quick = Consumer.named("payments")
                    .policy(Policy.defaults()
                            .withHandlerTimeout(Duration.ofMillis(200))
                            .withMaxRuns(2))
                    .on(
                            "paid",
                            m -> {
                                throw new IllegalArgumentException("no");
                            },
                            (Object event, dev.idem.Transaction tx) -> null)
                    .build();
            String undecodable = inbox.accept(quick, message).toString();
            thrown.add(thrownBy(() -> inbox.process(quick, message, tx -> {
                Thread.sleep(10_000);
                return null;
            })));
            assertThat(thrown.get(0)).isInstanceOf(HandlerTimeoutException.class);
            thrown.add(thrownBy(() -> inbox.process(quick, message, tx -> {
                Undone.by(tx.connection());
                return null;
            })));
            thrown.add(thrownBy(
                    () -> inbox.process(quick, message, tx -> inbox.process(quick, message, again -> null))));
            inbox.run("payments", message, tx -> Db.pay(tx.connection(), "1"));
            String duplicate =
                    inbox.run("payments", message, Transaction::nothingToDo).toString();
            String conflict = inbox.run(
                            "payments", message.toBuilder().payload(new byte[0]).build(), Transaction::nothingToDo)
                    .toString();
            db.execute("DROP TABLE idem_marker");
            thrown.add(thrownBy(() -> inbox.run("payments", message, Transaction::nothingToDo)));
            assertThat(thrown).doesNotContainNull();
            assertThat(log.everything()).isNotEmpty().noneMatch(line -> line.contains(CANARY));
            assertThat(List.of(undecodable, duplicate, conflict, message.toString()))
                    .noneMatch(t -> t.contains(CANARY));
            for (Throwable failure : thrown) {
                for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                    assertThat(String.valueOf(cause)).doesNotContain(CANARY);
                }
            }
        }
    }

    private static Throwable thrownBy(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        return org.assertj.core.api.Assertions.catchThrowable(call);
    }
}
