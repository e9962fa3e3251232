package dev.idem.queue;

import dev.idem.IdemException;

/**
 * The message belongs to somebody else now: its lease ran out and another worker took it, or a person moved it. Whoever gets
 * this stops; nothing it still does about the message can be recorded.
 */
public class LeaseLostException extends IdemException {
    private static final long serialVersionUID = 1L;

    public LeaseLostException(String message) {
        super(message, null);
    }
}
