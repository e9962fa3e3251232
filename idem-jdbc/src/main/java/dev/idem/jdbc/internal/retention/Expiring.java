package dev.idem.jdbc.internal.retention;

import dev.idem.queue.QueueState;

/** The tables whose rows grow old. */
enum Expiring {
    MARKERS("markers", "${marker}", "marked_at") {
        @Override
        long limit(Cutoffs.Cutoff cutoff) {
            return cutoff.markers();
        }

        /**
         * Never one whose message is still in the queue, else a redelivery would be stored again: what was given up is
         * removed from the queue first, by {@link QueueScan}, and counts as removed in a dry run.
         */
        @Override
        String unless(boolean dryRun) {
            return """
                     AND NOT EXISTS (SELECT 1 FROM ${queue} q
                      WHERE q.consumer = ${marker}.consumer AND q.message_key = ${marker}.message_key %s)
                    """.formatted(dryRun ? "AND q.status <> " + QueueState.FAILED_TERMINAL.code() : "");
        }
    },
    RESULTS("results", "${result}", "stored_at") {
        @Override
        long limit(Cutoffs.Cutoff cutoff) {
            return cutoff.results();
        }
    };

    private final String what;
    private final String table;
    private final String column;

    Expiring(String what, String table, String column) {
        this.what = what;
        this.table = table;
        this.column = column;
    }

    String what() {
        return what;
    }

    String table() {
        return table;
    }

    String column() {
        return column;
    }

    /** A further condition for a row that may go; empty if there is none. */
    String unless(boolean dryRun) {
        return "";
    }

    abstract long limit(Cutoffs.Cutoff cutoff);
}
