package dev.idem;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Cuts a list into transactions, none of which has more messages or bytes than the policy allows. */
final class Parts {
    private Parts() {}

    static List<List<BatchEntry<?>>> of(Policy policy, Collection<BatchEntry<?>> entries) {
        List<List<BatchEntry<?>>> parts = new ArrayList<>();
        List<BatchEntry<?>> part = new ArrayList<>();
        long bytes = 0;
        for (BatchEntry<?> entry : entries) {
            int size = entry.message().rawPayload().length;
            boolean full = part.size() == policy.batchMessages() || bytes + size > policy.batchBytes();
            if (full && !part.isEmpty()) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(entry);
            bytes += size;
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
        return parts;
    }
}
