package dev.idem.jdbc.admin;

import java.time.Instant;

/**
 * A stored message as it was before a person edited it. Texts are as they came, so whoever shows them must escape them.
 *
 * @param number 1 is the message as it was received
 * @param editedAt when it was replaced by the next one
 * @param actor who did it
 * @param changes what was changed, without values
 */
public record InboxRevision(
        int number, Instant editedAt, String actor, String reason, String changes, long payloadBytes) {}
