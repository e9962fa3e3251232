package dev.idem;

/**
 * The message belongs to somebody else now: its lease ran out and another worker took it, or a person moved it. Whoever gets
 * this stops; nothing it still does about the message can be recorded.
 */
public class LeaseLostException extends IdemException {
    private static final long serialVersionUID = 1L;

    LeaseLostException(String message) {
        super(message, null);
    }
}
