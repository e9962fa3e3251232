/** What handlers publish: collected while they run, stored with their effect, and signalled to the workers. */
@NullMarked
package dev.idem.internal.outbox;

import org.jspecify.annotations.NullMarked;
