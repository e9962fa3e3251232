package dev.idem.cli.demo;

import java.util.concurrent.Callable;

/** One consumer's way through the plan. How far it is may be asked by other threads. */
interface Run extends Callable<LaneResult> {
    int settled();

    int killed();
}
