package dev.idem.examples.orders;

import dev.idem.steps.EffectKey;
import dev.idem.steps.EffectNotDoneException;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A card provider that recognises keys: what it has charged it does not charge again, but answers as the first time. Its
 * first call does not get through. In its second the card is charged, and the answer is lost.
 */
final class Cards {
    private final PrintStream out;
    private final Map<String, String> receipts = new LinkedHashMap<>();
    private int calls;

    Cards(PrintStream out) {
        this.out = out;
    }

    synchronized String charge(EffectKey key, String order) {
        calls++;
        if (calls == 1) {
            out.println("Call 1: the provider cannot be reached");
            throw new EffectNotDoneException("connection refused", null); // surely nothing was done
        }
        boolean isNew = receipts.putIfAbsent(key.value(), "receipt for " + order) == null;
        if (calls == 2) {
            out.println("Call 2: charged, but the answer is lost");
            throw new IllegalStateException("no answer"); // nobody knows whether it was done
        }
        out.println("Call " + calls + (isNew ? ": charged" : ": known by its key, and not charged again"));
        return receipts.get(key.value());
    }

    synchronized int charges() {
        return receipts.size();
    }
}
