package dev.idem.jms;

import jakarta.jms.Message;
import org.jspecify.annotations.Nullable;

/**
 * A message that was received.
 *
 * @param session what it was received over, and what settles it
 * @param firstId the id that the broker gave to the first of its copies
 */
record Taken(
        Message origin, ReceivingSession session, @Nullable String firstId) {}
