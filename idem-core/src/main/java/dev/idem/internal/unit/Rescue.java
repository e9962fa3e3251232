package dev.idem.internal.unit;

import dev.idem.HandlerTimeoutException;
import dev.idem.spi.MarkerKey;
import java.util.List;

/** Goes on without a thread that does not come back from a handler, where the thread is one of the inbox's own. */
public interface Rescue {
    /** The thread is the caller's: nothing can be done for it. */
    Rescue NONE = new Rescue() {
        @Override
        public boolean retire() {
            return false;
        }

        @Override
        public boolean goesOn() {
            return true;
        }

        @Override
        public void replace(List<MarkerKey> keys, HandlerTimeoutException cause, Runnable free) {
            free.run();
        }
    };

    /** Gives the thread up: from now on it records nothing, should it ever come back. False if it was given up before. */
    boolean retire();

    /** Whether the thread shall go on after what it is doing. */
    boolean goesOn();

    /** Whether further handlers may begin. */
    default boolean begins() {
        return goesOn();
    }

    /** The same for the steps of a handler that is running. */
    default Rescue insideHandler() {
        return new InsideHandler(this);
    }

    /**
     * Records that the handler of these messages has failed, gives back what the thread had besides, and lets another one
     * take its place.
     *
     * @param free ends what the handler holds
     */
    void replace(List<MarkerKey> keys, HandlerTimeoutException cause, Runnable free);

    /** Everything begins that the running handler asks for. */
    record InsideHandler(Rescue worker) implements Rescue {
        @Override
        public boolean retire() {
            return worker.retire();
        }

        @Override
        public boolean goesOn() {
            return worker.goesOn();
        }

        @Override
        public boolean begins() {
            return true;
        }

        @Override
        public void replace(List<MarkerKey> keys, HandlerTimeoutException cause, Runnable free) {
            worker.replace(keys, cause, free);
        }
    }
}
