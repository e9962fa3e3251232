package dev.idem.torture;

import java.util.function.BooleanSupplier;

/** A consumer of a broker, at work until it is closed. */
interface Listening extends AutoCloseable {
    /** Whether the broker has taken it in. */
    boolean isRunning();

    @Override
    void close();

    static Listening of(BooleanSupplier running, Runnable close) {
        return new Listening() {
            @Override
            public boolean isRunning() {
                return running.getAsBoolean();
            }

            @Override
            public void close() {
                close.run();
            }
        };
    }
}
