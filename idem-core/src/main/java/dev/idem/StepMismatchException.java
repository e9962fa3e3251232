package dev.idem;

/**
 * The handler asks for other steps than those that are stored of this message: it was changed while the message was half
 * done. Nothing more is run; the message is parked with the reason {@code STEPS_CHANGED}. Handle it with the handler it was
 * begun with, or skip it.
 */
public class StepMismatchException extends TerminalException {
    /** Why such a message is parked. */
    static final String REASON = "STEPS_CHANGED";

    private static final long serialVersionUID = 1L;

    StepMismatchException(String message) {
        super(message, null);
    }
}
