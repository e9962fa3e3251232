/**
 * What users and tools name beside the store: the supported databases, what a start-up check finds, and how workers are
 * woken.
 */
@NullMarked
package dev.idem.jdbc.schema;

import org.jspecify.annotations.NullMarked;
