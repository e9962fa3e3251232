/** Handlers that are given many messages in one call. */
@NullMarked
package dev.idem.batch;

import org.jspecify.annotations.NullMarked;
