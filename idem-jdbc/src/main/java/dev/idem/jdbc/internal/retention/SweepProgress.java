package dev.idem.jdbc.internal.retention;

/**
 * How far a sweep is.
 *
 * @param what what it is walking through: partitions, markers, or results
 * @param percent how much of that it has seen, or -1 where nobody knows
 * @param rows how many rows it has removed, or counted, in there
 */
public record SweepProgress(String what, int percent, long rows) {}
