package dev.idem.internal.thread;

import dev.idem.StoreException;
import java.util.concurrent.Semaphore;

/** Bounds how many units run at once. Who has none waits here, first come first served, and holds no connection. */
public final class Permits {
    private final Semaphore permits;

    public Permits(int units) {
        permits = new Semaphore(units, true);
    }

    public void acquire(Object forWhat) {
        try {
            permits.acquire();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new StoreException("Interrupted while " + forWhat + " waited for its turn; deliver it again", stop);
        }
    }

    public void release() {
        permits.release();
    }
}
