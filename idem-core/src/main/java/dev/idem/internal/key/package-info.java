/** Keys: how the parts that identify a message become 16 bytes, and who may work on a key in this process. */
@NullMarked
package dev.idem.internal.key;

import org.jspecify.annotations.NullMarked;
