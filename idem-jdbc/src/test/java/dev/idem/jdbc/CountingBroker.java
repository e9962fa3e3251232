package dev.idem.jdbc;

import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.broker.Publisher;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A broker that counts publications by id, and notes when a message comes before the one before it of its key was confirmed.
 * Payloads are a key and a number, as in {@code a-1}. Thread-safe.
 */
final class CountingBroker {
    private final Map<String, Integer> publications = new HashMap<>();
    private final Map<String, String> payloads = new HashMap<>();
    private final Set<String> confirmed = new HashSet<>();
    private final List<String> violations = new ArrayList<>();
    private final List<String> firsts = new ArrayList<>();
    private int deaths;

    /** As one process reaches it: what is dead publishes nothing more. */
    Publisher from(MortalDataSource process) {
        return dyingAfter(process, Integer.MAX_VALUE);
    }

    /** The process dies when the broker has taken so many messages of it, and is about to take the next or to confirm. */
    Publisher dyingAfter(MortalDataSource process, int taken) {
        int[] left = {taken};
        return messages -> {
            for (Message message : messages) {
                dieIf(process, left[0]-- == 0);
                take(message);
            }
            dieIf(process, left[0] == 0);
            return confirm(messages);
        };
    }

    Publisher publisher() {
        return messages -> {
            messages.forEach(this::take);
            return confirm(messages);
        };
    }

    private synchronized void dieIf(MortalDataSource process, boolean now) {
        if (now && !process.isDead()) {
            deaths++;
            process.die();
        }
        if (process.isDead()) {
            throw new StoreException("This process is dead", null);
        }
    }

    private synchronized void take(Message message) {
        String payload = new String(message.payload(), StandardCharsets.UTF_8);
        String id = message.id().orElseThrow();
        int dash = payload.indexOf('-');
        int number = Integer.parseInt(payload.substring(dash + 1));
        String before = payload.substring(0, dash + 1) + (number - 1);
        if (number > 0 && !confirmed.contains(before)) {
            violations.add(payload + " came before " + before + " was confirmed");
        }
        if (publications.merge(id, 1, Integer::sum) == 1) {
            firsts.add(payload);
        }
        if (!payload.equals(payloads.getOrDefault(id, payload))) {
            violations.add("one id for " + payload + " and " + payloads.get(id));
        }
        payloads.put(id, payload);
    }

    private synchronized Map<Integer, Exception> confirm(List<Message> messages) {
        messages.forEach(message -> confirmed.add(new String(message.payload(), StandardCharsets.UTF_8)));
        return Map.of();
    }

    /** What a receiver that knows ids has got, in its order. */
    synchronized List<String> received() {
        return List.copyOf(firsts);
    }

    synchronized int mostPublications() {
        return publications.values().stream().mapToInt(n -> n).max().orElse(0);
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    synchronized int deaths() {
        return deaths;
    }
}
