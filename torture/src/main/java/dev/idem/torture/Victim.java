package dev.idem.torture;

import dev.idem.servers.PostgresServer;
import java.time.Duration;

/** The server that is killed in a campaign. */
interface Victim {
    /** Ends it as the loss of the machine would. */
    void killHard();

    /** Starts it on the same data. */
    void restart();

    /** Ends all connections to it, and answers true; false if it cannot. */
    default boolean closeConnections() {
        return false;
    }

    /** Sets the clock of the server so far ahead of the real one, or behind it, and answers true; false if it cannot. */
    default boolean setClock(Duration ahead) throws Exception {
        return false;
    }

    /** Whether it has a place for dead letters, which can be closed. */
    default boolean hasLetters() {
        return false;
    }

    /** Takes dead letters from now on, or none. */
    default void letters(boolean welcome) throws Exception {}

    /** How long it is left in peace at first. */
    default Duration youth() {
        return Duration.ZERO;
    }

    /**
     * A server of PostgreSQL.
     *
     * @param url a database with a {@link Clock} on it
     */
    static Victim of(PostgresServer server, String url) {
        return new Victim() {
            @Override
            public void killHard() {
                server.killHard();
            }

            @Override
            public void restart() {
                server.restart();
            }

            @Override
            public boolean setClock(Duration ahead) throws Exception {
                Clock.set(url, ahead);
                return true;
            }
        };
    }
}
