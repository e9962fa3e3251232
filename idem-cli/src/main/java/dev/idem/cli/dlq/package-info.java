/** {@code idem dlq}: dead letters of brokers, for people. */
@NullMarked
package dev.idem.cli.dlq;

import org.jspecify.annotations.NullMarked;
