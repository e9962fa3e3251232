/** Named, audited sessions that deliver messages again on purpose, and where such messages come from. */
@NullMarked
package dev.idem.replay;

import org.jspecify.annotations.NullMarked;
