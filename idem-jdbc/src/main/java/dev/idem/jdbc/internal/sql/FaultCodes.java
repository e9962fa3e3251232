package dev.idem.jdbc.internal.sql;

import java.util.Set;

/**
 * Which errors mean what, by SQLState (exact or class) and vendor code only; texts change with language and version.
 *
 * @param busyStates the claim waited long enough for its twin
 * @param transientStates the transaction is undone, and another run may succeed
 * @param brokenStates the confirm's own way of saying that the marker is gone or the transaction unusable
 * @param brokenSign what an error of the confirm quotes, where its state could as well be that of a deferred trigger; empty
 *     if there is none such. It is ours, so no language of the server changes it
 * @param lostStates the connection is ended, though the state's class does not say so
 * @param scarceStates the server lacks disk or memory
 * @param refusedClasses two-letter classes that a server answers to COMMIT when it has surely rolled back
 * @param endingCodes with these the server has rolled back the whole transaction, and its savepoints are gone
 */
public record FaultCodes(
        Set<String> busyStates,
        Set<Integer> busyCodes,
        Set<String> transientStates,
        Set<Integer> transientCodes,
        Set<String> brokenStates,
        Set<Integer> brokenCodes,
        String brokenSign,
        Set<String> lostStates,
        Set<Integer> lostCodes,
        Set<String> scarceStates,
        Set<Integer> scarceCodes,
        Set<String> refusedClasses,
        Set<Integer> endingCodes) {
    static Builder builder() {
        return new Builder();
    }

    /** With everything as it is here. */
    public Builder toBuilder() {
        Builder copy = builder();
        copy.busyStates = busyStates;
        copy.busyCodes = busyCodes;
        copy.transientStates = transientStates;
        copy.transientCodes = transientCodes;
        copy.brokenStates = brokenStates;
        copy.brokenCodes = brokenCodes;
        copy.brokenSign = brokenSign;
        copy.lostStates = lostStates;
        copy.lostCodes = lostCodes;
        copy.scarceStates = scarceStates;
        copy.scarceCodes = scarceCodes;
        copy.refusedClasses = refusedClasses;
        copy.endingCodes = endingCodes;
        return copy;
    }

    /** Gives each value by its name. Not thread-safe. */
    public static final class Builder {
        private Set<String> busyStates = Set.of();
        private Set<Integer> busyCodes = Set.of();
        private Set<String> transientStates = Set.of();
        private Set<Integer> transientCodes = Set.of();
        private Set<String> brokenStates = Set.of();
        private Set<Integer> brokenCodes = Set.of();
        private String brokenSign = "";
        private Set<String> lostStates = Set.of();
        private Set<Integer> lostCodes = Set.of();
        private Set<String> scarceStates = Set.of();
        private Set<Integer> scarceCodes = Set.of();
        private Set<String> refusedClasses = Set.of();
        private Set<Integer> endingCodes = Set.of();

        Builder busyStates(String... values) {
            busyStates = Set.of(values);
            return this;
        }

        Builder busyCodes(Integer... values) {
            busyCodes = Set.of(values);
            return this;
        }

        Builder transientStates(String... values) {
            transientStates = Set.of(values);
            return this;
        }

        Builder transientCodes(Integer... values) {
            transientCodes = Set.of(values);
            return this;
        }

        Builder brokenStates(String... values) {
            brokenStates = Set.of(values);
            return this;
        }

        Builder brokenCodes(Integer... values) {
            brokenCodes = Set.of(values);
            return this;
        }

        Builder brokenSign(String value) {
            brokenSign = value;
            return this;
        }

        Builder lostStates(String... values) {
            lostStates = Set.of(values);
            return this;
        }

        Builder lostCodes(Integer... values) {
            lostCodes = Set.of(values);
            return this;
        }

        Builder scarceStates(String... values) {
            scarceStates = Set.of(values);
            return this;
        }

        Builder scarceCodes(Integer... values) {
            scarceCodes = Set.of(values);
            return this;
        }

        Builder refusedClasses(String... values) {
            refusedClasses = Set.of(values);
            return this;
        }

        public Builder endingCodes(Integer... values) {
            endingCodes = Set.of(values);
            return this;
        }

        public FaultCodes build() {
            return new FaultCodes(
                    busyStates,
                    busyCodes,
                    transientStates,
                    transientCodes,
                    brokenStates,
                    brokenCodes,
                    brokenSign,
                    lostStates,
                    lostCodes,
                    scarceStates,
                    scarceCodes,
                    refusedClasses,
                    endingCodes);
        }
    }
}
