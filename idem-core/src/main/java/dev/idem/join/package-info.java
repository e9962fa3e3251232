/** Messages that are processed inside a transaction which somebody else opened and will commit. */
@NullMarked
package dev.idem.join;

import org.jspecify.annotations.NullMarked;
