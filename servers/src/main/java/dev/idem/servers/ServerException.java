package dev.idem.servers;

import org.jspecify.annotations.Nullable;

/** A server did not start, stop or answer as it should; the message ends with the last lines of its log. */
public final class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ServerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
