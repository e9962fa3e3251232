/**
 * Claims: a marker for each message or a watermark for each partition, the unit or batch that completes it in one
 * transaction, and the horizon behind which markers were removed.
 */
@NullMarked
package dev.idem.jdbc.internal.marker;

import org.jspecify.annotations.NullMarked;
