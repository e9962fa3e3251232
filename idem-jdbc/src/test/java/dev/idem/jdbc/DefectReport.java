package dev.idem.jdbc;

import java.util.Arrays;

/**
 * What a checker reports that reads the business table and nothing else, after every message was acknowledged.
 *
 * @param lost acknowledged messages without their effect
 * @param doubled messages with more than one
 * @param wrong verdicts that were not the right ones, where no effect can show it
 */
record DefectReport(int lost, int doubled, int wrong) {
    static final DefectReport FLAWLESS = new DefectReport(0, 0, 0);

    static DefectReport of(Db db, String... orders) {
        long[] effects = Arrays.stream(orders).mapToLong(db::payments).toArray();
        return new DefectReport(
                (int) Arrays.stream(effects).filter(n -> n == 0).count(),
                (int) Arrays.stream(effects).filter(n -> n > 1).count(),
                0);
    }

    static DefectReport wrongIf(boolean wrong) {
        return new DefectReport(0, 0, wrong ? 1 : 0);
    }

    @Override
    public String toString() {
        return "lost " + lost + ", doubled " + doubled + ", wrong " + wrong;
    }
}
