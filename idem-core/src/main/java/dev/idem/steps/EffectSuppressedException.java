package dev.idem.steps;

import dev.idem.TerminalException;

/**
 * A replay does not make effects; this one has neither a stored result nor a value that stands for it ({@link
 * EffectPolicy#withWhenSuppressed}).
 */
public class EffectSuppressedException extends TerminalException {
    private static final long serialVersionUID = 1L;

    public EffectSuppressedException(String message) {
        super(message, null);
    }
}
