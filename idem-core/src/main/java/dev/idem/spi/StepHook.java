package dev.idem.spi;

/**
 * A seam for tests: called at every {@link Step}, and may throw or end the process. Not for production: what it throws
 * is treated as if that step had failed.
 */
@FunctionalInterface
public interface StepHook {
    StepHook NONE = (step, key) -> {};

    void at(Step step, MarkerKey key);
}
