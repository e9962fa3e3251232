package dev.idem.bench.load;

/**
 * What is asked of every contender of a case.
 *
 * @param name the case, as reports call it
 * @param duplicates how many per cent of the deliveries repeat an earlier one
 * @param batch how many deliveries are polled together
 * @param timeOrdered whether ids are UUIDs of version 7, else of version 4
 */
public record Workload(String name, int threads, int duplicates, int batch, boolean timeOrdered) {
    public Workload(String name, int threads, int duplicates, int batch) {
        this(name, threads, duplicates, batch, false);
    }

    @Override
    public String toString() {
        return name + ", " + threads + (threads == 1 ? " thread" : " threads")
                + (batch == 1 ? "" : ", batches of " + batch) + ", " + duplicates + " % duplicates";
    }
}
