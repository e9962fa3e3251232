package dev.idem.broker;

import dev.idem.Message;

/**
 * A dead letter in its place.
 *
 * @param place names it among the letters of its destination, for people and commands: {@code 0-17}, say
 * @param message as it was set aside, with its own headers and ours
 * @param about why it was set aside
 */
public record Letter(String place, Message message, DeadLetter about) {}
