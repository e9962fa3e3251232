/**
 * Handlers that work in named steps, and effects outside the database with a ledger of what was intended, done and unknown.
 */
@NullMarked
package dev.idem.steps;

import org.jspecify.annotations.NullMarked;
