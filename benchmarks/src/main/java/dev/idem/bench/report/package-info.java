/** What was measured: ratios, targets, and the ways to print them. */
@NullMarked
package dev.idem.bench.report;

import org.jspecify.annotations.NullMarked;
