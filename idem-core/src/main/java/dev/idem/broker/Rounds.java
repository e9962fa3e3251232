package dev.idem.broker;

import dev.idem.Message;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The order in which a list of messages goes out: in rounds in which no ordering key stands twice. A message that is not
 * confirmed must not be overtaken by the next of its key, and what is on its way cannot be called back. Behind one that failed
 * nothing of its key goes out; the queue's own order lets those wait. Used by one thread.
 */
final class Rounds {
    private final List<Message> messages;
    private final boolean ordered;
    private final Set<String> blocked = new HashSet<>();
    private List<Integer> waiting = new ArrayList<>();

    Rounds(List<Message> messages, boolean ordered) {
        this.messages = messages;
        this.ordered = ordered;
        for (int i = 0; i < messages.size(); i++) {
            waiting.add(i);
        }
    }

    /** The first of each key that waits, by their indexes; empty when nothing is left that may go out. */
    List<Integer> next() {
        List<Integer> round = new ArrayList<>();
        List<Integer> later = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        for (int index : waiting) {
            Optional<String> key = key(index);
            if (key.isEmpty() || (!blocked.contains(key.get()) && taken.add(key.get()))) {
                round.add(index);
            } else if (!blocked.contains(key.get())) {
                later.add(index);
            }
        }
        waiting = later;
        return round;
    }

    /** This one failed. */
    void block(int index) {
        key(index).ifPresent(blocked::add);
    }

    private Optional<String> key(int index) {
        return ordered ? messages.get(index).orderingKey() : Optional.empty();
    }
}
