/** The relational store. {@link dev.idem.jdbc.JdbcStore} is the way in; the rest is seen through it. */
@NullMarked
package dev.idem.jdbc;

import org.jspecify.annotations.NullMarked;
