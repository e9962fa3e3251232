/**
 * Exactly once for effects in a relational database: {@link dev.idem.jdbc.JdbcStore}, its tables, and statements for
 * effects that need less.
 */
@NullMarked
package dev.idem.jdbc;

import org.jspecify.annotations.NullMarked;
