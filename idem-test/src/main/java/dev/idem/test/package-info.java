/**
 * A kit for tests. For users: {@link dev.idem.test.IdempotencyTest} tries their own handlers in every crash window, and
 * {@link dev.idem.test.MemoryStore} stands in for a database in unit tests. For authors of stores: the contract in {@code
 * dev.idem.test.contract}, {@link dev.idem.test.CrashPoint} and {@link dev.idem.test.FlakyStore}.
 */
@NullMarked
package dev.idem.test;

import org.jspecify.annotations.NullMarked;
