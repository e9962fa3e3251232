/** Many messages in one transaction, each of which can be undone alone; and watermarks, one for each partition. */
@NullMarked
package dev.idem.internal.batch;

import org.jspecify.annotations.NullMarked;
