package dev.idem.test;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import org.jspecify.annotations.Nullable;

/** Learns under which key a message goes by asking an inbox to claim it from a store that grants nothing. */
final class KeyProbe implements MarkerStore {
    private @Nullable MarkerKey asked;

    private KeyProbe() {}

    /** The key, or null when the message has none. */
    static @Nullable MarkerKey keyOf(Consumer consumer, Message message) {
        KeyProbe probe = new KeyProbe();
        Consumer strict = Consumer.named(consumer.name())
                .key(consumer.key())
                .policy(consumer.policy().withMissingKey(Policy.MissingKey.REJECT))
                .build();
        try (Inbox inbox = Inbox.create(probe)) {
            inbox.process(strict, message, tx -> "never");
        }
        return probe.asked;
    }

    @Override
    public Claim claim(ClaimRequest request) {
        asked = request.key();
        return new Claim.Busy();
    }

    @Override
    public Guarantee guarantee() {
        return Guarantee.WITHIN_PROCESS;
    }

    @Override
    public String describe() {
        return "probe for keys";
    }

    @Override
    public void register(String consumer) {}

    @Override
    public boolean isTransient(Throwable failure) {
        return false;
    }

    @Override
    public void close() {}
}
