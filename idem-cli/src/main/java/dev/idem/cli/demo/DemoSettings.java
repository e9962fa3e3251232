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
        SeatKind naive,
        boolean sabotage,
        boolean verbose) {
    SeatKind idemSeat() {
        return sabotage ? naive : SeatKind.IDEM;
    }
}
