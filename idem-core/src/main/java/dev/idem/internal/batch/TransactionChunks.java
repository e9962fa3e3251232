package dev.idem.internal.batch;

import dev.idem.Policy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Cuts a list into transactions, none of which has more messages or bytes than the policy allows. */
final class TransactionChunks {
    private TransactionChunks() {}

    /** @param isolated how many messages a transaction should have at most for the store's sake */
    static List<List<BatchEntry<?>>> of(Policy policy, int isolated, Collection<BatchEntry<?>> entries) {
        int most = Math.min(policy.batchMessages(), isolated);
        List<List<BatchEntry<?>>> parts = new ArrayList<>();
        List<BatchEntry<?>> part = new ArrayList<>();
        long bytes = 0;
        for (BatchEntry<?> entry : entries) {
            int size = entry.message().payloadSize();
            boolean full = part.size() == most || bytes + size > policy.batchBytes();
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
