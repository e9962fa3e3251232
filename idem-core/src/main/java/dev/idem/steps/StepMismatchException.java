package dev.idem.steps;

import dev.idem.TerminalException;
import dev.idem.spi.MarkerKey;

/**
 * The handler asks for other steps than those that are stored of this message: it was changed while the message was half
 * done. Nothing more is run; the message is parked with the reason {@code STEPS_CHANGED}. Handle it with the handler it was
 * begun with, or skip it.
 */
public class StepMismatchException extends TerminalException {
    /** Why such a message is parked. */
    public static final String REASON = "STEPS_CHANGED";

    private static final long serialVersionUID = 1L;

    public StepMismatchException(String message) {
        super(message, null);
    }

    /** Its handler has no steps any more, and would do everything from the beginning. */
    public static StepMismatchException withoutSteps(MarkerKey key) {
        return new StepMismatchException(
                key + ": its handler has no steps, but some of it is done in steps; handle it with the handler it was"
                        + " begun with, or skip it");
    }
}
