package dev.idem.jdbc;

import dev.idem.spi.FaultPoint;
import java.util.ArrayList;
import java.util.List;

/** A crash at one point of one scenario: the index-th that a delivery passes. */
record CrashCase(CrashDelivery.Scenario scenario, int index, String point, boolean committed) {

    /** All cases of a scenario, from the points that a delivery without a crash has passed. */
    static List<CrashCase> of(CrashDelivery.Scenario scenario, List<String> passed) {
        List<CrashCase> cases = new ArrayList<>();
        boolean committed = scenario == CrashDelivery.Scenario.DUPLICATE;
        for (int i = 0; i < passed.size(); i++) {
            String point = passed.get(i);
            committed |= point.equals(FaultPoint.AFTER_COMMIT.name());
            cases.add(new CrashCase(scenario, i, point, committed));
            committed |=
                    point.equals(FaultPoint.BEFORE_COMMIT.name()) && scenario == CrashDelivery.Scenario.COMMIT_LOST;
        }
        return cases;
    }

    String id() {
        return scenario + ":" + index;
    }

    @Override
    public String toString() {
        return scenario + " at point " + index + ", " + point;
    }
}
