package dev.idem.steps;

/**
 * Handles the messages of one type in named steps, see {@link Steps}. It is called again from its beginning after a
 * failure or a crash, and must then ask for the same steps in the same order: what decides about the order comes from
 * the message, or from the result of a step. Must be thread-safe.
 *
 * @param <E> the decoded payload
 */
@FunctionalInterface
public interface StepHandler<E> {
    void handle(E event, Steps steps) throws Exception;
}
