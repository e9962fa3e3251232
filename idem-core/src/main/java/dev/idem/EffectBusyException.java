package dev.idem;

/** Another delivery of the message is making the effect just now, so its outcome is not unknown but still to come: wait for it. */
final class EffectBusyException extends IdemException {
    private static final long serialVersionUID = 1L;

    EffectBusyException(String message) {
        super(message, null);
    }
}
