package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A prefix that is misspelt, or a table that is not there: its name is told, and what to do, at the start and in the log. */
class MissingTableTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a misspelt prefix is refused at the start with the tables it means and the prefix that is there")
    void misspelt(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            for (SchemaMode mode : new SchemaMode[] {SchemaMode.VALIDATE, SchemaMode.CREATE_IF_EMBEDDED}) {
                if (database == Database.H2 && mode == SchemaMode.CREATE_IF_EMBEDDED) {
                    continue; // which would make them
                }
                assertThatThrownBy(() -> JdbcStore.builder(db.plain())
                                .prefix("idme_")
                                .schemaMode(mode)
                                .build())
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining(".idme_* do not exist")
                        .hasMessageContaining("others are there with the prefix \"idem_\"")
                        .hasMessageContaining("Create them: idem schema apply")
                        .hasMessageContaining("JdbcStore.builder(dataSource).prefix(\"idem_\")");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("where the start looks at nothing, the first message names the table")
    void misspeltUnseen(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            try (Inbox inbox = Inbox.create(JdbcStore.builder(db.plain())
                    .prefix("idme_")
                    .schemaMode(SchemaMode.NOTHING)
                    .build())) {
                assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), Transaction::nothingToDo))
                        .isInstanceOf(StoreException.class)
                        .message()
                        .containsIgnoringCase("idme_")
                        .contains("create them: idem schema apply");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a single table that is missing is named at the start")
    void oneIsMissing(Database database) {
        try (Db db = Db.fresh(database)) {
            db.store();
            db.execute("DROP TABLE idem_watermark");
            assertThatThrownBy(() -> JdbcStore.builder(db.plain())
                            .schemaMode(SchemaMode.VALIDATE)
                            .build())
                    .isInstanceOf(StoreException.class)
                    .message()
                    .containsIgnoringCase("idem_watermark is missing")
                    .contains("Create what is missing: idem schema apply");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Database.class,
            names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("one that goes while workers run is named in the log, and they go on when it is back")
    void goneMeanwhile(Database database) {
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withWorkers(1).withPoll(Duration.ofMillis(100)))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(6));
                CapturedLog log = CapturedLog.of(Inbox.class)) {
            inbox.start(consumer);
            db.execute("ALTER TABLE idem_queue RENAME TO idem_elsewhere");
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(log.warnings())
                            .anySatisfy(line -> assertThat(line)
                                    .startsWith("payments: the store does not answer (")
                                    .contains("idem_queue", "create them: idem schema apply", "its workers pause")));
            db.execute("ALTER TABLE idem_elsewhere RENAME TO idem_queue");
            await().atMost(SOON).until(() -> inbox.accept(consumer, Db.message("1")) instanceof Outcome.Stored);
            await().atMost(SOON).until(() -> db.payments() == 1);
        }
    }
}
