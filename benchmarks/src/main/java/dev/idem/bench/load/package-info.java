/** Feeds contenders with deliveries, in interleaved rounds, and counts what they paid. */
@NullMarked
package dev.idem.bench.load;

import org.jspecify.annotations.NullMarked;
