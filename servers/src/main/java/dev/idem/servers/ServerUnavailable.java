package dev.idem.servers;

/** A server cannot run on this machine as it is; the message says what to install. */
public final class ServerUnavailable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ServerUnavailable(String message) {
        super(message);
    }
}
