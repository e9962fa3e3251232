/**
 * The statements of each database as data, how they are prepared and run, what their errors mean, and how times, ids and
 * texts are stored.
 */
@NullMarked
package dev.idem.jdbc.internal.sql;

import org.jspecify.annotations.NullMarked;
