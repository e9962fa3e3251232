/** The ways to process a message once that are measured against each other, all on the same pool and tables. */
@NullMarked
package dev.idem.bench.contender;

import org.jspecify.annotations.NullMarked;
