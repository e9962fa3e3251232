package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A partition of the marker table: the keys of whole days, in UTC. Times are milliseconds since 1970, as in the keys.
 *
 * @param name as SQL has it, with schema and quotes
 * @param label its bare name, for people
 * @param bounds as the database says them
 * @param from the first millisecond of its keys, or {@link #IRREGULAR}
 * @param to the first millisecond behind them
 */
public record Partition(String name, String label, String bounds, long from, long to) {
    public static final long DAY = Duration.ofDays(1).toMillis();

    /** So many days have their partition before they begin. */
    public static final int DAYS_AHEAD = 7;

    /** Stands for bounds that are not times. */
    static final long IRREGULAR = -1;

    private static final Pattern BOUNDS =
            Pattern.compile("FOR VALUES FROM \\('([0-9a-f-]{36})'\\) TO \\('([0-9a-f-]{36})'\\)");

    private static final DateTimeFormatter SUFFIX = DateTimeFormatter.BASIC_ISO_DATE;

    /** One that is half detached takes no rows any more, so it is none. */
    private static final String LIST = """
            SELECT format('%I.%I', n.nspname, c.relname), c.relname, pg_get_expr(c.relpartbound, c.oid)
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE i.inhparent = '${marker}'::regclass AND NOT i.inhdetachpending
            """;

    /** All partitions as they are now, the oldest first. */
    public static List<Partition> list(Connection connection, Tables tables) throws SQLException {
        List<Partition> partitions = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(LIST))) {
            while (rows.next()) {
                @Nullable String bounds = rows.getString(3);
                if (bounds != null) { // else it was dropped while the list was read
                    partitions.add(of(rows.getString(1), rows.getString(2), bounds));
                }
            }
        }
        partitions.sort(Comparator.comparingLong(Partition::from));
        return partitions;
    }

    static Partition of(String name, String label, String bounds) {
        Matcher matcher = BOUNDS.matcher(bounds);
        return matcher.matches()
                ? new Partition(name, label, bounds, millis(matcher.group(1)), millis(matcher.group(2)))
                : new Partition(name, label, bounds, IRREGULAR, IRREGULAR);
    }

    /** The partition of one day, as it should be. */
    public static Partition ofDay(Tables tables, long from) {
        String day =
                LocalDate.ofInstant(Instant.ofEpochMilli(from), ZoneOffset.UTC).format(SUFFIX);
        String bounds = "FOR VALUES FROM ('" + key(from) + "') TO ('" + key(from + DAY) + "')";
        return new Partition(
                tables.fill("${marker}_" + day), tables.fill("${prefix}marker_" + day), bounds, from, from + DAY);
    }

    private static long millis(String key) {
        UUID value = UUID.fromString(key);
        boolean bare = value.getLeastSignificantBits() == 0 && (value.getMostSignificantBits() & 0xFFFFL) == 0;
        return bare ? millis(value) : IRREGULAR;
    }

    static long millis(UUID key) {
        return key.getMostSignificantBits() >>> 16;
    }

    /** The smallest key of a time. */
    static UUID key(long millis) {
        return new UUID(millis << 16, 0);
    }

    public static long dayOf(long millis) {
        return Math.floorDiv(millis, DAY) * DAY;
    }

    public boolean hasWholeDays() {
        return from >= 0 && to > from && from % DAY == 0 && to % DAY == 0;
    }

    public boolean covers(long millis) {
        return from >= 0 && from <= millis && millis < to;
    }

    /** Says that a key is in this partition, so that a statement on the whole table looks at no other. */
    public String condition() {
        return condition("message_key");
    }

    /** The same of a key in another column. */
    public String condition(String column) {
        return column + " >= '" + key(from) + "' AND " + column + " < '" + key(to) + "'";
    }
}
