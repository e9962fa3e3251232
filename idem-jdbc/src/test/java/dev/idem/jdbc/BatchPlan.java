package dev.idem.jdbc;

import dev.idem.Message;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One message of a random stream, and what its handler will do: in which style it writes, and how it goes wrong, how many
 * times, before it goes well.
 */
record BatchPlan(int position, String id, Style style, Trouble trouble, int times, String orderingKey) {
    /** How a handler writes its effect. */
    enum Style {
        /** Through the connection, message by message. */
        EACH,
        /** Many messages with one JDBC batch. */
        TOGETHER,
        /** Many messages, but row by row. */
        ROW_BY_ROW,
        /** Handed over with {@code tx.defer}. */
        DEFERRED,
        /** Half through the connection, half handed over. */
        MIXED
    }

    /** What goes wrong. */
    enum Trouble {
        NONE,
        THROWS,
        THROWS_BEFORE,
        TERMINAL,
        SQL_ERROR,
        SQL_ERROR_FIRST,
        SWALLOWED,
        SWALLOWED_FIRST,
        DEFERRED_ERROR,
        TRANSIENT,
        LIBRARY_ROLLBACK,
        SAID_BY_HANDLER,
        AT_COMMIT
    }

    /** A stream in which ordering keys and troubles meet. Direct and deferred writers do not share an ordering key. */
    static List<BatchPlan> stream(Random random, String prefix, int messages, int troublePercent) {
        List<BatchPlan> plans = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            Style style = Style.values()[random.nextInt(Style.values().length)];
            boolean later = style == Style.DEFERRED || style == Style.MIXED;
            String key = random.nextInt(3) == 0 ? null : (later ? style.name() : "direct") + random.nextInt(3);
            Trouble trouble = random.nextInt(100) < troublePercent
                    ? Trouble.values()[random.nextInt(Trouble.values().length)]
                    : Trouble.NONE;
            plans.add(new BatchPlan(i, prefix + i, style, trouble, 1 + random.nextInt(3), key));
        }
        return plans;
    }

    boolean isTerminal() {
        return trouble == Trouble.TERMINAL;
    }

    Message message() {
        Message.Builder message =
                Message.of(id, id.getBytes(StandardCharsets.UTF_8)).toBuilder().type(style.name());
        return (orderingKey == null ? message : message.orderingKey(orderingKey)).build();
    }
}
