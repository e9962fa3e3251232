package dev.idem.internal.unit;

import dev.idem.Message;
import dev.idem.Transaction;
import dev.idem.internal.outbox.Outputs;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What a handler sees of a unit. */
record RunningTransaction(Message message, String consumer, int run, UnitOfWork unit, Outputs outputs)
        implements Transaction {
    @Override
    public Connection connection() {
        return unit.connection();
    }

    @Override
    public DataSource dataSource() {
        return unit.dataSource();
    }

    @Override
    public void defer(String sql, @Nullable Object... args) {
        unit.defer(sql, args);
    }

    @Override
    public void publish(String destination, Message output) {
        outputs.publish(destination, output);
    }

    @Override
    public void nothingToDo() {
        outputs.nothing();
    }

    @Override
    public String outputId(String purpose) {
        return outputs.id(purpose);
    }
}
