package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.Uuids;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a store says of itself, to be kept outside of it.
 *
 * @param inbox which tables
 * @param process which run of a process said it
 * @param tick how far that process was: its row had this number before the checkpoint was given
 * @param at when that was written, by the database's clock in microseconds
 */
record StoreCheckpoint(UUID inbox, UUID process, long tick, long at) {
    private static final String FORM = "idem1";
    private static final Pattern TEXT =
            Pattern.compile(FORM + " ([0-9a-f-]{36}) ([0-9a-f-]{36}) ([0-9]{1,18}) ([0-9]{1,18})");

    /** Empty for whatever others have written. */
    static Optional<StoreCheckpoint> of(String text) {
        Matcher matcher = TEXT.matcher(text);
        return matcher.matches()
                ? Uuids.canonical(matcher.group(1))
                        .flatMap(inbox -> Uuids.canonical(matcher.group(2))
                                .map(process -> new StoreCheckpoint(
                                        inbox,
                                        process,
                                        Long.parseLong(matcher.group(3)),
                                        Long.parseLong(matcher.group(4)))))
                : Optional.empty();
    }

    @Override
    public String toString() {
        return FORM + " " + inbox + " " + process + " " + tick + " " + at;
    }
}
