package dev.idem.cli.torture;

import dev.idem.Message;
import dev.idem.TerminalException;
import dev.idem.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** What is done with a message, by its nature. Thread-safe. */
final class Handling {
    private static final int LONGEST_WORK_MILLIS = 5;
    private static final int ONE_IN_IS_LONG = 60;
    private static final int LONG_WORK_MILLIS = 200;

    private final DataSource dataSource;
    private final Defect defect;
    private final Runnable whenLong;
    private final Set<Integer> failedHere = ConcurrentHashMap.newKeySet();

    /** @param whenLong told when work begins that takes long, its effect being written and not committed */
    Handling(DataSource dataSource, Defect defect, Runnable whenLong) {
        this.whenLong = whenLong;
        this.dataSource = dataSource;
        this.defect = defect;
    }

    /** Answers the number of the message. */
    Integer handle(Message message, Transaction tx) throws SQLException, InterruptedException {
        Item item = Item.of(message);
        if (item.nature() == Item.Nature.TERMINAL) {
            throw new TerminalException("message " + item.number() + " cannot be handled", null);
        }
        write(item, tx);
        if (item.nature() == Item.Nature.POISON) {
            throw new Mode.Poisoned(item);
        }
        if (item.nature() == Item.Nature.FLAKY && failedHere.add(item.number())) {
            throw new IllegalStateException("message " + item.number() + " fails at first");
        }
        if (item.mode().takesTime()) {
            work(item);
        }
        return item.number();
    }

    private void work(Item item) throws InterruptedException {
        if (item.number() % ONE_IN_IS_LONG == 0) {
            whenLong.run();
            Thread.sleep(LONG_WORK_MILLIS);
        } else {
            Thread.sleep(ThreadLocalRandom.current().nextInt(LONGEST_WORK_MILLIS));
        }
    }

    private void write(Item item, Transaction tx) throws SQLException {
        if (defect == Defect.OWN_TRANSACTION) {
            try (Connection own = dataSource.getConnection()) {
                Business.write(own, item);
            }
        } else {
            Business.write(tx.connection(), item);
        }
    }
}
