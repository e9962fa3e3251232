package dev.idem.test.fault;

/** The way bytes flow through a {@link TcpFaultProxy}. */
public enum Direction {
    /** Requests. */
    CLIENT_TO_SERVER,

    /** Replies. */
    SERVER_TO_CLIENT;

    Direction opposite() {
        return this == CLIENT_TO_SERVER ? SERVER_TO_CLIENT : CLIENT_TO_SERVER;
    }
}
