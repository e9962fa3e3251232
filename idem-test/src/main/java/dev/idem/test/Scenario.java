package dev.idem.test;

import dev.idem.spi.FaultPoint;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.util.ArrayList;
import java.util.List;

/**
 * One way in which messages arrive more than once or their processing is cut short. However it goes, in the end
 * everything is acknowledged, and the tables look as after one clean delivery.
 */
record Scenario(String name, Play play) {
    /** The steps of a delivery whose handler succeeds. */
    static final List<FaultPoint> STEPS = List.of(
            FaultPoint.BEFORE_CLAIM,
            FaultPoint.AFTER_CLAIM,
            FaultPoint.BEFORE_HANDLER,
            FaultPoint.AFTER_HANDLER,
            FaultPoint.BEFORE_COMMIT,
            FaultPoint.AFTER_COMMIT,
            FaultPoint.BEFORE_SETTLEMENT);

    private static final int MOST_FAULTS = 60;

    @FunctionalInterface
    interface Play {
        void on(Stage stage) throws Exception;
    }

    static Scenario clean() {
        return new Scenario("one clean delivery", stage -> {
            try (ServiceProcess process = stage.start()) {
                process.deliverAll();
            }
        });
    }

    static Scenario times(int count) {
        return new Scenario("each message delivered " + count + " times", stage -> {
            try (ServiceProcess process = stage.start()) {
                for (int message = 0; message < stage.messages(); message++) {
                    for (int i = 0; i < count; i++) {
                        process.deliver(message);
                    }
                }
            }
        });
    }

    static Scenario allAgain() {
        return new Scenario("all messages delivered, and all again after a restart", stage -> {
            for (int i = 0; i < 2; i++) {
                try (ServiceProcess process = stage.start()) {
                    process.deliverAll();
                }
            }
        });
    }

    static Scenario concurrently(int twins) {
        return new Scenario("each message delivered " + twins + " times at once", stage -> {
            try (ServiceProcess one = stage.start();
                    ServiceProcess two = stage.start()) {
                for (int message = 0; message < stage.messages(); message++) {
                    stage.deliverTwins(one, two, message, twins);
                }
            }
        });
    }

    static Scenario crashingAt(FaultPoint step, int message) {
        String name = "crash " + step + " of message " + (message + 1) + ", then redelivery after a restart";
        return new Scenario(name, stage -> {
            CrashPoint crash = CrashPoint.at(step).time(message + 1).throwError();
            try (ServiceProcess dying = stage.start(crash)) {
                for (int before = 0; before < message; before++) {
                    dying.deliver(before);
                }
                dying.deliverOnce(message);
            }
            try (ServiceProcess restarted = stage.start()) {
                for (int rest = message; rest < stage.messages(); rest++) {
                    restarted.deliver(rest);
                }
            }
        });
    }

    /** The same process runs the same handler again, without a new delivery: memory that was not rolled back shows. */
    static Scenario undone() {
        return new Scenario("first run undone by a deadlock at its commit", stage -> {
            try (ServiceProcess process =
                    stage.start(store -> FlakyStore.around(store).undoCommits(1))) {
                process.deliverAll();
            }
        });
    }

    static Scenario failingStatement(int nth) {
        return new Scenario("SQL error in statement " + nth + " of the handler, then redelivery", stage -> {
            StatementFaults faults = StatementFaults.at(nth);
            try (ServiceProcess process = stage.start(store -> FlakyStore.around(store, faults::in))) {
                process.deliverAll();
            }
        });
    }

    /** As many as the handlers send statements, found by counting them in a clean delivery. */
    static List<Scenario> failingStatements(Stage stage) {
        StatementFaults counting = StatementFaults.none();
        try (ServiceProcess process = stage.start(store -> FlakyStore.around(store, counting::in))) {
            process.deliverAll();
        }
        List<Scenario> scenarios = new ArrayList<>();
        for (int nth = 1; nth <= Math.min(counting.count(), MOST_FAULTS); nth++) {
            scenarios.add(failingStatement(nth));
        }
        return scenarios;
    }

    static Scenario lostConnection(int call, Fault fault, String what) {
        String moment = fault == Fault.CONNECTION_LOST_BEFORE ? "before" : "after";
        return new Scenario("connection lost " + moment + " JDBC call " + call + " (" + what + ")", stage -> {
            FaultyDataSource faulty = stage.faultyDataSource();
            try (ServiceProcess process = stage.start(faulty)) {
                faulty.arm(call, fault);
                process.deliverAll();
            }
        });
    }

    /** One before and one after each JDBC call that store and handlers make in a clean delivery. */
    static List<Scenario> lostConnections(Stage stage) {
        FaultyDataSource counting = stage.faultyDataSource();
        List<String> calls;
        try (ServiceProcess process = stage.start(counting)) {
            process.deliverAll();
            calls = counting.trace();
        }
        List<Scenario> scenarios = new ArrayList<>();
        for (int call = 1; call <= Math.min(calls.size(), MOST_FAULTS); call++) {
            scenarios.add(lostConnection(call, Fault.CONNECTION_LOST_BEFORE, calls.get(call - 1)));
            scenarios.add(lostConnection(call, Fault.CONNECTION_LOST_AFTER, calls.get(call - 1)));
        }
        return scenarios;
    }
}
