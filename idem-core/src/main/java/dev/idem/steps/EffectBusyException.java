package dev.idem.steps;

import dev.idem.IdemException;

/** Another delivery of the message is making the effect just now, so its outcome is not unknown but still to come: wait for it. */
public final class EffectBusyException extends IdemException {
    private static final long serialVersionUID = 1L;

    public EffectBusyException(String message) {
        super(message, null);
    }
}
