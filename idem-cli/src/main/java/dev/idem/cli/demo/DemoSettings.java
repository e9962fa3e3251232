package dev.idem.cli.demo;

/**
 * What a run of the demo is made of.
 *
 * @param naive who sits beside Idem
 * @param sabotage puts the naive consumer into Idem's seat as well, to show that the demo can fail
 */
record DemoSettings(
        int messages,
        int duplicates,
        int kills,
        long seed,
        DemoStore.Kind store,
        DemoBroker.Kind broker,
        DemoMode mode,
        SeatKind naive,
        boolean sabotage,
        boolean verbose) {
    DemoPlan plan() {
        DemoPlan plan = DemoPlan.of(seed, messages, duplicates, kills);
        return mode == DemoMode.QUEUED ? plan.withTroubles(seed) : plan;
    }

    SeatKind idemSeat() {
        if (sabotage) {
            return naive;
        }
        return mode == DemoMode.QUEUED ? SeatKind.QUEUED : SeatKind.IDEM;
    }
}
