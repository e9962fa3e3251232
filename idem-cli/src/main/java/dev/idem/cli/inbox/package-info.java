/** {@code idem inbox}: looks after stored messages. */
@NullMarked
package dev.idem.cli.inbox;

import org.jspecify.annotations.NullMarked;
