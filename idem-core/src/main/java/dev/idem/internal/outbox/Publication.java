package dev.idem.internal.outbox;

import dev.idem.Message;
import dev.idem.queue.Outbox;
import dev.idem.spi.MarkerKey;

/**
 * A message that a handler wants published.
 *
 * @param row names its row in the queue; no other row has it, even if the message's id is published twice
 */
public record Publication(Outbox outbox, MarkerKey row, Message message) {}
