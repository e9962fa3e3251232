package dev.idem.internal.unit;

import dev.idem.Message;
import dev.idem.batch.BatchTransaction;
import java.sql.Connection;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/** What a batch handler sees of a unit. */
public record RunningBatch(
        List<Message> messages,
        String consumer,
        Connection connection,
        DataSource dataSource,
        Failed failed,
        Published published,
        Runnable nothing,
        Identified identified)
        implements BatchTransaction {
    @Override
    public void fail(int index, Exception cause) {
        failed.add(Objects.checkIndex(index, messages.size()), Objects.requireNonNull(cause, "cause"));
    }

    @Override
    public void publish(int index, String destination, Message message) {
        published.add(Objects.checkIndex(index, messages.size()), destination, message);
    }

    @Override
    public void nothingToDo() {
        nothing.run();
    }

    @Override
    public String outputId(int index, String purpose) {
        return identified.id(Objects.checkIndex(index, messages.size()), purpose);
    }

    @FunctionalInterface
    public interface Published {
        void add(int index, String destination, Message message);
    }

    @FunctionalInterface
    public interface Identified {
        String id(int index, String purpose);
    }

    @FunctionalInterface
    public interface Failed {
        void add(int index, Exception cause);
    }
}
