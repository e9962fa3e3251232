/** Payloads and results as JSON. Classes are named by the code alone, never by a message. */
@NullMarked
package dev.idem.jackson;

import org.jspecify.annotations.NullMarked;
