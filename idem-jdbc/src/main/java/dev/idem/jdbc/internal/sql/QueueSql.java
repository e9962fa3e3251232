package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What differs between databases in keeping stored messages. Times are microseconds since 1970 everywhere. What stands in
 * braces is repeated for each row, see {@link RowsSql}.
 *
 * @param now the database's clock
 * @param byId the table where rows are found by their ids: a scan of a small table would wait for rows it does not want
 * @param insert writes messages in the order given
 * @param orderingLocks waits until the stripes given are this transaction's, in their order
 * @param blocked answers those of the ordering keys given that have a message in the queue; takes these locks before, where
 *     one round trip is enough for both
 * @param isolation said before a transaction that takes messages, where the default would lock what others need
 * @param begin the first statement of a transaction that handles stored messages, where one is needed
 * @param take locks what is due, and passes over what others have locked; answers rows of {@link QueueRow}
 *     ({@code :peek} is how far it may look for what is not locked, {@code :inline} how large a message may be that is
 *     read at once)
 * @param peeked counts what {@code take} may look at, where it looks only so far
 * @param takeHeads the same, but only the first of each ordering key
 * @param followers answers the first messages of each of the ordering keys given, without a lock
 * @param open answers those of the messages given that nobody has moved, and locks them
 * @param openLeased the same without a lock, which would keep others from taking over when the lease has run out
 * @param completeAndCommit removes messages, proves that this is still the transaction that took them, and commits; fails
 *     with a state of class 40 when some of them were somebody else's already
 * @param committed answers a row if that transaction was committed
 * @param ended takes back what {@code begin} has written, where it writes
 * @param heads answers the first message of each of the ordering keys given, if it is held
 * @param held answers the next ordering keys after one given that have something held, each with the id of its first message
 *     and whether it is held itself, however many wait behind it
 * @param oldest how long the oldest message has waited that is received or failed, whenever it is due: what is due at once is
 *     in the order of receipt in the index, and of what is due later each look reads {@code :limit} rows at most
 * @param duplicates counts duplicates on their markers, and need not be durable either
 * @param running notes what a worker is about to run, and need not be durable when the database crashes
 */
public record QueueSql(
        String now,
        String byId,
        String insert,
        String orderingLocks,
        String blocked,
        String isolation,
        String begin,
        String take,
        String takeHeads,
        String peeked,
        String followers,
        String open,
        String openLeased,
        String completeAndCommit,
        String committed,
        String ended,
        String heads,
        String held,
        String oldest,
        String duplicates,
        String running) {
    /** The due time of what a worker may take at once. It is no time, so no clock that is set back makes it wait. */
    public static final long DUE_NOW = 0;

    static Builder builder() {
        return new Builder();
    }

    public static QueueSql of(Database database) {
        return switch (database) {
            case POSTGRESQL -> PostgreSqlQueueSql.SQL;
            case MARIADB -> MariaDbQueueSql.SQL;
            case H2 -> H2QueueSql.SQL;
        };
    }

    /** Gives each statement by its name; those that a database does not need stay empty. Not thread-safe. */
    static final class Builder {
        private final Map<String, String> statements = new HashMap<>();

        Builder now(String sql) {
            return with("now", sql);
        }

        Builder byId(String sql) {
            return with("byId", sql);
        }

        Builder insert(String sql) {
            return with("insert", sql);
        }

        Builder orderingLocks(String sql) {
            return with("orderingLocks", sql);
        }

        Builder blocked(String sql) {
            return with("blocked", sql);
        }

        Builder isolation(String sql) {
            return with("isolation", sql);
        }

        Builder begin(String sql) {
            return with("begin", sql);
        }

        Builder take(String sql) {
            return with("take", sql);
        }

        Builder takeHeads(String sql) {
            return with("takeHeads", sql);
        }

        Builder peeked(String sql) {
            return with("peeked", sql);
        }

        Builder followers(String sql) {
            return with("followers", sql);
        }

        Builder open(String sql) {
            return with("open", sql);
        }

        Builder openLeased(String sql) {
            return with("openLeased", sql);
        }

        Builder completeAndCommit(String sql) {
            return with("completeAndCommit", sql);
        }

        Builder committed(String sql) {
            return with("committed", sql);
        }

        Builder ended(String sql) {
            return with("ended", sql);
        }

        Builder heads(String sql) {
            return with("heads", sql);
        }

        Builder held(String sql) {
            return with("held", sql);
        }

        Builder oldest(String sql) {
            return with("oldest", sql);
        }

        Builder duplicates(String sql) {
            return with("duplicates", sql);
        }

        Builder running(String sql) {
            return with("running", sql);
        }

        private Builder with(String name, String sql) {
            statements.put(name, sql);
            return this;
        }

        QueueSql build() {
            return new QueueSql(
                    needed("now"),
                    needed("byId"),
                    needed("insert"),
                    needed("orderingLocks"),
                    needed("blocked"),
                    optional("isolation"),
                    optional("begin"),
                    needed("take"),
                    needed("takeHeads"),
                    optional("peeked"),
                    needed("followers"),
                    needed("open"),
                    needed("openLeased"),
                    needed("completeAndCommit"),
                    needed("committed"),
                    optional("ended"),
                    needed("heads"),
                    needed("held"),
                    needed("oldest"),
                    needed("duplicates"),
                    needed("running"));
        }

        private String needed(String name) {
            return Objects.requireNonNull(statements.get(name), name);
        }

        private String optional(String name) {
            return statements.getOrDefault(name, "");
        }
    }
}
