/**
 * What grows old: the windows consumers declare, the sweeps that remove what is older, the daily partitions, and how a
 * restored backup is detected.
 */
@NullMarked
package dev.idem.jdbc.internal.retention;

import org.jspecify.annotations.NullMarked;
