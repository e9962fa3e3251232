package dev.idem.cli.demo;

import dev.idem.Settlement;

/** What a loop by hand does with each delivery. Called by several threads at once. */
record ByHand(Seat seat, Answers answers) {
    /** Answers whether the broker may forget it. */
    boolean take(Delivery delivery) {
        Answer.Settled settled = seat.take(delivery);
        if (settled.settlement() == Settlement.RETRY) {
            return false;
        }
        if (!settled.duplicate()) {
            answers.pass(CrashWindow.BEFORE_ACK, delivery);
        }
        answers.send(settled);
        return true;
    }
}
