package dev.idem.spi;

/** Writes down, durably, what a person did and why. */
@FunctionalInterface
public interface Audit {
    /**
     * Writes one entry.
     *
     * @param consumer whose messages
     * @param action what was done, one word
     * @param detail to which of them, without payloads
     */
    void record(String consumer, String action, String actor, String reason, String detail);
}
