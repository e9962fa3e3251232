package dev.idem.torture;

import dev.idem.Message;
import dev.idem.TerminalException;
import dev.idem.Transaction;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.Steps;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** What is done with a message, by its nature. Thread-safe. */
final class Handling {
    /** Longer than all work but that of handlers that hang. */
    static final Duration TIMEOUT = Duration.ofMillis(1_500);

    private static final int LONGEST_WORK_MILLIS = 5;
    private static final int ONE_IN_IS_LONG = 60;
    private static final int LONG_WORK_MILLIS = 200;
    private static final long HANGS_NANOS = 4_000_000_000L;

    private final DataSource dataSource;
    private final Defect defect;
    private final Runnable whenLong;
    private final boolean isNew;
    private final ProviderCalls calls;
    private final Set<Integer> failedHere = ConcurrentHashMap.newKeySet();

    /**
     * @param isNew whether this is the other version of the code
     * @param whenLong told when work begins that takes long, its effect being written and not committed
     */
    Handling(DataSource dataSource, Defect defect, boolean isNew, Runnable whenLong) {
        this.isNew = isNew;
        calls = new ProviderCalls(dataSource, failedHere);
        this.whenLong = whenLong;
        this.dataSource = dataSource;
        this.defect = defect;
    }

    /** Answers the number of the message. */
    Integer handle(Message message, Transaction tx) throws SQLException, InterruptedException {
        Item item = Item.of(message);
        refuseTerminal(item);
        if (item.nature() == Item.Nature.FLAKY && failedHere.add(item.number())) {
            write(item, tx);
            throw new IllegalStateException("message " + item.number() + " fails at first");
        }
        return book(item, tx);
    }

    /** A provider is called, and sometimes its answer is never heard. */
    Integer handleInSteps(Message message, Steps steps) throws Exception {
        Item item = Item.of(message);
        refuseTerminal(item);
        boolean renamed = isNew && item.nature() == Item.Nature.CHANGED;
        steps.effect(renamed ? "charge-card" : "charge", whenUnknown(item), key -> calls.make(item, key));
        steps.step("book", tx -> {
            book(item, tx);
        });
        if (item.nature() == Item.Nature.CHANGED && failedHere.add(item.number())) {
            throw new IllegalStateException("message " + item.number() + " is left half done at first");
        }
        return item.number();
    }

    private EffectPolicy<Object> whenUnknown(Item item) {
        return item.parksWhenUnknown() && defect != Defect.CALLED_AGAIN
                ? EffectPolicy.park()
                : EffectPolicy.retryWithSameKey();
    }

    private static void refuseTerminal(Item item) {
        if (item.nature() == Item.Nature.TERMINAL) {
            throw new TerminalException("message " + item.number() + " cannot be handled", null);
        }
    }

    private int book(Item item, Transaction tx) throws SQLException, InterruptedException {
        write(item, tx);
        switch (item.nature()) {
            case POISON -> throw new Mode.Poisoned(item);
            case STUBBORN -> {
                if (failedHere.add(item.number())) {
                    hang();
                }
            }
            case ERROR -> {
                if (failedHere.add(item.number())) {
                    throw error(item);
                }
            }
            case INTERRUPTING -> Thread.currentThread().interrupt();
            default -> {
                if (item.mode().takesTime()) {
                    work(item);
                }
            }
        }
        return item.number();
    }

    static void hang() {
        long start = System.nanoTime();
        while (System.nanoTime() - start < HANGS_NANOS) {
            LockSupport.parkNanos(HANGS_NANOS);
            Thread.interrupted(); // and goes on
        }
    }

    static Error error(Item item) {
        String text = "message " + item.number() + " ends its thread at first";
        return switch (item.number() % 3) {
            case 0 -> new ThreadDeath();
            case 1 -> new StackOverflowError(text);
            default -> new NoClassDefFoundError(text);
        };
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
