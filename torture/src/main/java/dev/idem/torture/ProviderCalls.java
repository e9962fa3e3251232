package dev.idem.torture;

import dev.idem.steps.EffectKey;
import dev.idem.steps.EffectNotDoneException;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;

/** Calls to a provider that charges, and how they end, by the nature of the message. Thread-safe. */
final class ProviderCalls {
    private final DataSource provider;
    private final Set<Integer> failedHere;

    /** @param failedHere the messages that have failed in this process already, here or elsewhere */
    ProviderCalls(DataSource provider, Set<Integer> failedHere) {
        this.provider = provider;
        this.failedHere = failedHere;
    }

    void make(Item item, EffectKey key) throws SQLException {
        int way = item.number() / 2; // besides the policy, which the number decides as well
        switch (item.nature()) {
            case FLAKY -> flaky(item, key, way % 3);
            case STUBBORN -> {
                Business.call(provider, item, key);
                if (way % 2 == 0 && failedHere.add(item.number())) {
                    Handling.hang(); // charged, and no answer for a long time
                }
            }
            case ERROR -> {
                Business.call(provider, item, key);
                if (way % 2 == 0 && failedHere.add(item.number())) {
                    throw Handling.error(item);
                }
            }
            case INTERRUPTING -> {
                Business.call(provider, item, key);
                Thread.currentThread().interrupt();
            }
            default -> Business.call(provider, item, key);
        }
    }

    private void flaky(Item item, EffectKey key, int way) throws SQLException {
        boolean fails = failedHere.add(item.number());
        if (fails && way == 0) {
            throw new EffectNotDoneException("the provider could not be reached for message " + item.number(), null);
        }
        if (fails && way == 1) {
            throw new IllegalStateException("no answer for message " + item.number() + ", which was not charged");
        }
        Business.call(provider, item, key);
        if (fails) {
            throw new IllegalStateException("no answer for message " + item.number() + ", which was charged");
        }
    }
}
