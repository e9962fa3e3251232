package dev.idem.rabbitmq;

import dev.idem.Inbox;
import dev.idem.broker.spi.Seal;
import org.jspecify.annotations.Nullable;

/** The seal of an inbox, asked for when it is needed: a listener starts also while the store is away. Thread-safe. */
final class LazySeal {
    private final Inbox inbox;
    private volatile @Nullable Seal seal;

    LazySeal(Inbox inbox) {
        this.inbox = inbox;
    }

    /** @throws dev.idem.StoreException when the store does not answer */
    Seal get() {
        Seal known = seal;
        if (known == null) {
            known = Seal.of(inbox);
            seal = known;
        }
        return known;
    }
}
