package dev.idem.test.fault;

/** The {@link Error} that {@link Fault#ERROR} throws. */
public final class InjectedError extends Error {
    private static final long serialVersionUID = 1L;

    InjectedError(String message) {
        super(message);
    }
}
