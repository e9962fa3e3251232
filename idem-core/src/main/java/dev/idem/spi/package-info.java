/** What a store implements, and the seams through which tests reach every step of a unit. */
@NullMarked
package dev.idem.spi;

import org.jspecify.annotations.NullMarked;
