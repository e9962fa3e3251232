package dev.idem.jms;

import dev.idem.Inbox;
import dev.idem.broker.spi.Seal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The store keeps the secret, and may not answer yet when a listener is built. Thread-safe. */
final class LazySeal implements Supplier<Seal> {
    private final Inbox inbox;
    private @Nullable Seal seal;

    LazySeal(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    public synchronized Seal get() {
        Seal known = seal;
        if (known == null) {
            known = Seal.of(inbox);
            seal = known;
        }
        return known;
    }
}
