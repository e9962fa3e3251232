package dev.idem.torture;

import java.util.List;
import java.util.Set;

/** The stream of messages on its way to the workers, and what is known of it outside the business tables. */
interface Traffic extends AutoCloseable {
    /**
     * Lets messages come.
     *
     * @param share how much of the stream is published by now, from 0 to 1
     */
    void flow(double share, List<Slot> slots, long now) throws Exception;

    /** Hears a line of a worker; true if it tells of work. */
    boolean hear(String line, long now);

    /** The worker in this slot is dead, or silent for too long. */
    void takeBack(int slot, long now);

    /** Whether everything was published, and accepted by whoever must answer for it from then on. */
    boolean isDone();

    Set<Item> accepted();

    /** How many single messages were delivered. */
    long deliveries();

    /** What the workers have not worked off, after so many effects. */
    Rest rest(long effects) throws Exception;

    /**
     * Does what only a person can do.
     *
     * @param quiet whether no worker can be in the middle of something that began while they were hit
     */
    default void settle(boolean quiet) throws Exception {}

    /** The numbers of messages that are parked since their handler has changed. */
    default Set<Integer> changed() {
        return Set.of();
    }

    Report report(TortureSettings settings, Numbers numbers) throws Exception;

    @Override
    void close();

    /**
     * What is left to do.
     *
     * @param idle whether nobody can do anything about it
     * @param asPlanned whether this is how it should end
     */
    record Rest(long left, boolean idle, boolean asPlanned) {}

    /** What every campaign counts. */
    record Numbers(
            double seconds,
            int kills,
            int pauses,
            int crashes,
            int serverKills,
            int cuts,
            int jumps,
            int letterOutages,
            Verdict verdict) {}
}
