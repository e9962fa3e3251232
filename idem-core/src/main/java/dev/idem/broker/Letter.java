package dev.idem.broker;

import dev.idem.Message;
import java.util.Map;

/**
 * A dead letter in its place.
 *
 * @param place names it among the letters of its destination, for people and commands: {@code 0-17}, say
 * @param message as it was set aside, with its own headers and ours
 * @param about why it was set aside
 */
public record Letter(String place, Message message, DeadLetter about) {
    /**
     * The topic or queue to which it is sent again: the one that it says it came from, or "" if it says none. Somebody who can
     * write to the dead letters can write anything here.
     */
    public String origin() {
        Map<String, String> origin = about.origin();
        return origin.getOrDefault("topic", origin.getOrDefault("queue", ""));
    }
}
