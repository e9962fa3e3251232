/** Jakarta Messaging: a queue's messages through an inbox, settled as it says. */
@NullMarked
package dev.idem.jms;

import org.jspecify.annotations.NullMarked;
