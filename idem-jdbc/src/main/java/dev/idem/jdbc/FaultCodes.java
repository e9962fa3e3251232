package dev.idem.jdbc;

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
record FaultCodes(
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
        Set<Integer> endingCodes) {}
