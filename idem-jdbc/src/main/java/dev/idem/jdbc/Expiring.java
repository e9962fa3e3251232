package dev.idem.jdbc;

/** The tables whose rows grow old. */
enum Expiring {
    MARKERS("markers", "${marker}", "processed_at") {
        @Override
        long limit(Cutoffs.Cutoff cutoff) {
            return cutoff.markers();
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

    abstract long limit(Cutoffs.Cutoff cutoff);
}
