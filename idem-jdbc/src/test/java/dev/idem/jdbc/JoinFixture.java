package dev.idem.jdbc;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Work;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.JoinedFailure;
import dev.idem.join.JoinedInbox;
import dev.idem.join.Provisional;
import java.sql.Connection;
import java.sql.SQLException;

/** A database, an inbox, and a transaction somebody else owns. */
final class JoinFixture implements AutoCloseable {
    final Db db;
    final Inbox inbox;
    final Connection outer;
    final JoinedInbox joined;
    final JoinedInbox undoing;

    JoinFixture(Database database) throws SQLException {
        db = Db.fresh(database);
        inbox = Inbox.create(db.store());
        outer = begin();
        joined = inbox.within(outer);
        undoing = inbox.within(outer, JoinedFailure.UNDO_TO_SAVEPOINT);
    }

    Connection begin() throws SQLException {
        Connection connection = db.plain().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Pays in the outer transaction, once for the message. */
    Provisional<?> pay(String id) throws SQLException {
        return pay(joined, id, "pay");
    }

    static Provisional<?> pay(JoinedInbox joined, String id, String payload) throws SQLException {
        return joined.process("payments", InlineTest.message(id, payload), paying(id));
    }

    static Work<Boolean, SQLException> paying(String id) {
        return tx -> {
            Db.pay(tx.connection(), id);
            return true;
        };
    }

    static Message message(String id) {
        return InlineTest.message(id, "pay");
    }

    @Override
    public void close() throws SQLException {
        outer.close();
        inbox.close();
        db.close();
    }
}
