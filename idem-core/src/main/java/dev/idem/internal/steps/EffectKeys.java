package dev.idem.internal.steps;

import dev.idem.internal.text.PartsDigest;
import dev.idem.spi.MarkerKey;
import dev.idem.steps.EffectKey;
import java.util.HexFormat;

/** Makes the keys of effects: the same in retries, restarts and replays. */
final class EffectKeys {
    private static final String PREFIX = "idem_";
    private static final int BYTES = 20;

    private EffectKeys() {}

    static EffectKey of(String scope, MarkerKey message, String name, long fence) {
        byte[] digest = new PartsDigest()
                .add("effect")
                .add(scope)
                .add(message.value().toString())
                .add(message.id())
                .add(name)
                .bytes();
        return new EffectKey(PREFIX + HexFormat.of().formatHex(digest, 0, BYTES), fence);
    }
}
