/** Texts, digests and times in ids. Depends on nothing. */
@NullMarked
package dev.idem.internal.text;

import org.jspecify.annotations.NullMarked;
