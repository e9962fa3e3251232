package dev.idem.jdbc;

import java.util.Set;

/**
 * Which errors mean what, by SQLState (exact or class) and vendor code only; texts change with language and version.
 *
 * @param busyStates the claim waited long enough for its twin
 * @param transientStates the transaction is undone, and another run may succeed
 * @param brokenStates the confirm's own way of saying that the marker is gone or the transaction unusable
 * @param refusedClasses two-letter classes that a server answers to COMMIT when it has surely rolled back
 */
record FaultCodes(
        Set<String> busyStates,
        Set<Integer> busyCodes,
        Set<String> transientStates,
        Set<Integer> transientCodes,
        Set<String> brokenStates,
        Set<Integer> brokenCodes,
        Set<String> refusedClasses) {}
