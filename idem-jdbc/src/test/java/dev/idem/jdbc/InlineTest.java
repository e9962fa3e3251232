package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ordinary path, on every database. */
@Tag("second-pass")
class InlineTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    void marksAndAppliesTogetherAndRecognisesTheSecondDelivery(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.create(db.store())) {
            for (String id : new String[] {"order-1", UUID.randomUUID().toString()}) {
                Message message = message(id, "pay");
                assertThat(inbox.run("payments", message, tx -> Db.pay(tx.connection(), id)))
                        .isEqualTo(new Outcome.Processed<>(null));
                assertThat(inbox.run("payments", message, tx -> Db.pay(tx.connection(), id)))
                        .isInstanceOf(Outcome.Duplicate.class);
                assertThat(inbox.run("payments", message(id, "pay more"), tx -> Db.pay(tx.connection(), id)))
                        .isInstanceOf(Outcome.Conflict.class);
                assertThat(db.payments(id)).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void leavesNothingWhenTheHandlerThrows(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.create(db.store())) {
            IllegalStateException failure = new IllegalStateException("no");
            assertThatThrownBy(() -> inbox.run("payments", message("1", ""), tx -> {
                        Db.pay(tx.connection(), "1");
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", message("1", ""), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    static Message message(String id, String payload) {
        return Message.of(id, payload.getBytes(StandardCharsets.UTF_8));
    }
}
