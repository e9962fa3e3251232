package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.ResultCodec;
import dev.idem.jdbc.schema.Database;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** All that a message can meet, in one walk; for tests whose point is the connection and not the message. */
final class StorePath {
    private StorePath() {}

    static void check(Db db, Inbox inbox) throws Exception {
        Consumer payments = Consumer.of("payments");
        for (int i = 0; i < 8; i++) { // often enough for drivers that change their ways after some calls
            String id = "walk-" + i;
            assertThatThrownBy(() -> inbox.run("payments", Db.message(id), tx -> {
                        Db.pay(tx.connection(), id);
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");
            if (db.kind() == Database.POSTGRESQL) {
                assertThatThrownBy(() -> inbox.run("payments", Db.message(id), tx -> swallow(tx.connection(), id)))
                        .isInstanceOf(BrokenTransactionException.class);
            }
            assertThat(db.payments(id)).isZero();
            assertThat(inbox.process(payments, Db.message(id), ResultCodec.text(), tx -> {
                        Db.pay(tx.connection(), id);
                        return "receipt";
                    }))
                    .isEqualTo(new Outcome.Processed<>("receipt"));
            assertThat(inbox.process(payments, Db.message(id), ResultCodec.text(), tx -> "never"))
                    .isInstanceOfSatisfying(
                            Outcome.Duplicate.class,
                            duplicate -> assertThat((Object) duplicate.storedResult())
                                    .isEqualTo(Optional.of("receipt")));
            assertThat(inbox.run("payments", Message.of(id, new byte[] {1}), tx -> Db.pay(tx.connection(), id)))
                    .isInstanceOf(Outcome.Conflict.class);
            assertThat(db.payments(id)).isEqualTo(1);
        }
    }

    private static void swallow(java.sql.Connection connection, String id) throws SQLException {
        Db.pay(connection, id);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1/0");
        } catch (SQLException swallowed) {
            // as bad handlers do
        }
    }
}
