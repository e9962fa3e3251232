package dev.idem.internal.unit;

import dev.idem.TerminalException;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * How large the results of a consumer may be. What is larger than the store takes would end its connection, or be kept and
 * never be read again, so it must not get there.
 */
public record ResultSize(String consumer, int wanted, int possible) {
    public static ResultSize of(ConsumerPlan consumer, MarkerStore store) {
        return new ResultSize(consumer.name(), consumer.policy().maxResultBytes(), store.largestResult());
    }

    @Nullable
    public StoredResult checked(@Nullable StoredResult result) {
        int size = result == null ? 0 : result.bytes().length;
        if (size > Math.min(wanted, possible)) {
            throw new TerminalException(
                    "The result of a handler of " + consumer + " has " + size + " bytes, but may have at most "
                            + Math.min(wanted, possible) + ": "
                            + (wanted <= possible
                                    ? "return less, or a reference to it, or raise maxResultBytes in the policy"
                                    : "return less, or a reference to it; the database takes no more (MariaDB: raise"
                                            + " max_allowed_packet)"),
                    null);
        }
        return result;
    }
}
