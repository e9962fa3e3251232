package dev.idem.spi;

/**
 * A seam for tests: called at every {@link FaultPoint}, and may throw or end the process. Not for production: what it throws
 * is treated as if that step had failed.
 */
@FunctionalInterface
public interface FaultHook {
    FaultHook NONE = (step, key) -> {};

    void at(FaultPoint step, MarkerKey key);
}
