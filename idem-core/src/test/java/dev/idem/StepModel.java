package dev.idem;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The protocol of leases, steps and effects as a machine of small transitions, explored exhaustively. Two workers handle one
 * message: step, effect, step, step. At any moment a lease may run out and be taken over, a worker may crash, a request to the
 * provider may be lost, late or refused, and any answer, of the provider or of a commit, may be lost.
 *
 * <p>The provider charges once for each request that reaches it; only under {@link Rule#RETRY} does it recognise keys. When it
 * is asked and says "not done", requests from before are refused from then on, as {@code EffectAnswer.NotDone} demands.
 */
final class StepModel {
    /** The policy for unknown effects. */
    enum Rule {
        PARK,
        RETRY,
        ASK
    }

    /** Mistakes that must be found. */
    enum Bug {
        NONE,
        /** The step commits without looking at the fence. */
        NO_FENCE_AT_STEP,
        /** The record of a step is committed after its effect, in a transaction of its own. */
        RECORD_AFTER_STEP,
        /** The records are read before the lease is taken. */
        READ_BEFORE_LEASE,
        /** The intent is written after the call. */
        INTENT_AFTER_CALL,
        /** The result is written without looking at the fence. */
        DONE_WITHOUT_FENCE,
        /** An intent that is found is taken for a call that was not made. */
        UNKNOWN_IS_NOT_DONE,
        /** A call that failed is taken for one that was not made. */
        FAILURE_IS_NOT_DONE,
        /** A call that was surely not made is taken for proof that none before it was. */
        NOT_DONE_SPEAKS_FOR_ALL,
        /** The key has the run in it. */
        KEY_OF_THE_RUN,
        /** The message is completed without looking at the fence. */
        NO_FENCE_AT_COMPLETE,
        /** After a lost answer to its commit the step is simply run again. */
        LOST_COMMIT_RUNS_AGAIN
    }

    private static final int STEPS = 3;
    private static final int EFFECT_AT = 1; // after the first step

    // What is in the database.
    private static final int STATUS = 0;
    private static final int FENCE = 1;
    private static final int RECORD = 2; // for each step the fence it was recorded under, or 0
    private static final int APPLIED = RECORD + STEPS; // how often its effect is in the database
    private static final int LEDGER = APPLIED + STEPS;
    // What is outside: masks of fences.
    private static final int PENDING = LEDGER + 1;
    private static final int EXECUTED = PENDING + 1;
    private static final int REFUSED = EXECUTED + 1;
    private static final int CHARGES = REFUSED + 1;
    private static final int KEYS = CHARGES + 1;
    private static final int CLEARED = KEYS + 1; // calls of which the provider has said that they were not made
    private static final int WORKER = CLEARED + 1;
    // Of each worker.
    private static final int PC = 0;
    private static final int MINE = 1;
    private static final int VIEW = 2; // mask of steps it has read as done
    private static final int SEEN = 3; // the ledger as it has read it
    private static final int NEXT = 4; // place in the program
    private static final int WORKER_SIZE = 5;
    private static final int WORKERS = 2;
    private static final int SIZE = WORKER + WORKERS * WORKER_SIZE;

    private static final int FREE = 0;
    private static final int LEASED = 1;
    private static final int COMPLETED = 2;
    private static final int PARKED = 3;

    private static final int NOTHING = 0;
    private static final int INTENT = 1;
    private static final int UNKNOWN = 2;
    private static final int DONE = 3;

    private static final int IDLE = 0;
    private static final int LOAD = 1;
    private static final int PROGRAM = 2;
    private static final int STEP_COMMIT = 3;
    private static final int STEP_LOOK = 4;
    private static final int STEP_RECORD = 5;
    private static final int WRITE_INTENT = 6;
    private static final int CALL = 7;
    private static final int WAIT = 8;
    private static final int WRITE_DONE = 9;
    private static final int WRITE_UNKNOWN = 10;
    private static final int ERASE = 11;
    private static final int FAIL = 12;
    private static final int ASK = 13;
    private static final int PARK_UNKNOWN = 14;
    private static final int PARK_MOVE = 15;
    private static final int COMPLETE = 16;
    private static final int LEASE_AFTER_LOAD = 17;

    private final Rule rule;
    private final Bug bug;
    private final int mostRuns;
    private final Map<String, String> cameFrom = new HashMap<>();
    private final Deque<int[]> open = new ArrayDeque<>();
    private int completed;
    private int parked;
    private int[] now = new int[SIZE];

    StepModel(Rule rule, Bug bug, int mostRuns) {
        this.rule = rule;
        this.bug = bug;
        this.mostRuns = mostRuns;
    }

    /** What an exploration has found. */
    record Found(int states, int completed, int parked) {}

    /** Something happened that must not. */
    static final class Violation extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Violation(String message) {
            super(message);
        }
    }

    Found explore() {
        int[] first = new int[SIZE];
        cameFrom.put(text(first), "");
        open.add(first);
        while (!open.isEmpty()) {
            now = open.remove();
            for (int w = 0; w < WORKERS; w++) {
                worker(WORKER + w * WORKER_SIZE);
            }
            network();
        }
        return new Found(cameFrom.size(), completed, parked);
    }

    /** The way to a state, for people. */
    private String way(int[] state) {
        List<String> steps = new ArrayList<>();
        for (String at = text(state); !at.isEmpty(); at = cameFrom.getOrDefault(at, "")) {
            steps.add(0, Arrays.toString(at.chars().toArray()));
        }
        return steps.size() + " states:\n" + String.join("\n", steps);
    }

    private static String text(int[] state) {
        char[] chars = new char[state.length];
        for (int i = 0; i < chars.length; i++) {
            chars[i] = (char) state[i];
        }
        return new String(chars);
    }

    private void require(boolean condition, String what, int[] state) {
        if (!condition) {
            throw new Violation(what + " after " + way(state));
        }
    }

    @FunctionalInterface
    private interface Change {
        void on(int[] next);
    }

    private void to(Change change) {
        int[] next = now.clone();
        change.on(next);
        if (cameFrom.putIfAbsent(text(next), text(now)) == null) {
            for (int i = 0; i < STEPS; i++) {
                require(next[APPLIED + i] <= 1, "step " + i + " is applied twice", next);
            }
            require(next[CHARGES] <= 1, "the card is charged twice", next);
            require(Integer.bitCount(next[KEYS]) <= 1, "the provider has seen two keys", next);
            boolean unsettled = ((next[PENDING] | next[EXECUTED]) & ~next[CLEARED]) != 0;
            require(next[LEDGER] != NOTHING || !unsettled, "the ledger has no trace of a call", next);
            if (next[STATUS] == COMPLETED && now[STATUS] != COMPLETED) {
                completed++;
                for (int i = 0; i < STEPS; i++) {
                    require(next[APPLIED + i] == 1, "completed without step " + i, next);
                }
                require(next[LEDGER] == DONE && next[CHARGES] == 1, "completed without its effect", next);
            }
            parked += next[STATUS] == PARKED && now[STATUS] != PARKED ? 1 : 0;
            open.add(next);
        }
    }

    private boolean holds(int at) {
        return now[STATUS] == LEASED && now[FENCE] == now[at + MINE];
    }

    /** What a worker may do next, and a crash. */
    private void worker(int at) {
        int pc = now[at + PC];
        if (pc != IDLE) {
            to(next -> forget(next, at)); // the process dies
        }
        switch (pc) {
            case IDLE -> begin(at);
            case LOAD, LEASE_AFTER_LOAD -> load(at, pc);
            case PROGRAM -> program(at);
            case STEP_COMMIT, STEP_LOOK, STEP_RECORD -> step(at, pc);
            case WRITE_INTENT, WRITE_DONE, WRITE_UNKNOWN, PARK_UNKNOWN -> write(at, pc);
            case ERASE ->
                fenced(at, next -> {
                    boolean speaksForAll = rule != Rule.RETRY || bug == Bug.NOT_DONE_SPEAKS_FOR_ALL;
                    next[LEDGER] = now[at + SEEN] == NOTHING || speaksForAll ? NOTHING : UNKNOWN;
                    next[at + PC] = FAIL;
                });
            case CALL -> call(at);
            case WAIT -> answers(at);
            case ASK -> ask(at);
            case FAIL ->
                fenced(at, next -> {
                    next[STATUS] = FREE;
                    next[FENCE]++;
                    forget(next, at);
                });
            case PARK_MOVE ->
                fenced(at, next -> {
                    next[STATUS] = PARKED;
                    forget(next, at);
                });
            case COMPLETE -> complete(at);
            default -> throw new IllegalStateException("pc " + pc);
        }
    }

    private static void forget(int[] next, int at) {
        Arrays.fill(next, at, at + WORKER_SIZE, 0);
    }

    /** Changes something under the lease, or learns that it is lost. */
    private void fenced(int at, Change change) {
        to(holds(at) ? change : next -> forget(next, at));
    }

    private void begin(int at) {
        if (bug == Bug.READ_BEFORE_LEASE) {
            if (canLease()) {
                to(next -> {
                    read(next, at);
                    next[at + PC] = LEASE_AFTER_LOAD;
                });
            }
        } else if (canLease()) {
            to(next -> lease(next, at, LOAD));
        }
    }

    /** Free, or leased by somebody whose time may be up at any moment. */
    private boolean canLease() {
        return now[STATUS] <= LEASED && now[FENCE] < mostRuns;
    }

    private static void lease(int[] next, int at, int pc) {
        next[STATUS] = LEASED;
        next[FENCE]++;
        next[at + MINE] = next[FENCE];
        next[at + PC] = pc;
    }

    private void load(int at, int pc) {
        if (pc == LEASE_AFTER_LOAD) {
            to(next -> {
                if (canLease()) {
                    lease(next, at, PROGRAM);
                } else {
                    forget(next, at);
                }
            });
            return;
        }
        to(next -> {
            read(next, at);
            next[at + PC] = PROGRAM;
        });
    }

    private void read(int[] next, int at) {
        int view = 0;
        for (int i = 0; i < STEPS; i++) {
            view |= now[RECORD + i] > 0 ? 1 << i : 0;
        }
        next[at + VIEW] = view;
        next[at + SEEN] = now[LEDGER];
    }

    private static int stepAt(int place) {
        return place < EFFECT_AT ? place : place - 1;
    }

    private void program(int at) {
        int place = now[at + NEXT];
        if (place > STEPS) {
            to(next -> next[at + PC] = COMPLETE);
        } else if (place == EFFECT_AT) {
            effect(at);
        } else if ((now[at + VIEW] & 1 << stepAt(place)) != 0) {
            to(next -> next[at + NEXT]++);
        } else {
            to(next -> next[at + PC] = STEP_COMMIT); // its work is done, in a transaction that is still open
        }
    }

    private void step(int at, int pc) {
        int step = stepAt(now[at + NEXT]);
        if (pc == STEP_RECORD) {
            fenced(at, next -> {
                next[RECORD + step] = now[at + MINE];
                go(next, at);
            });
        } else if (pc == STEP_LOOK) {
            boolean own = now[RECORD + step] == now[at + MINE];
            to(next -> {
                if (own && bug != Bug.LOST_COMMIT_RUNS_AGAIN) {
                    go(next, at);
                } else if (holds(at)) {
                    next[at + PC] = STEP_COMMIT;
                } else {
                    forget(next, at);
                }
            });
        } else if (!holds(at) && bug != Bug.NO_FENCE_AT_STEP) {
            to(next -> forget(next, at));
        } else {
            for (boolean answered : new boolean[] {true, false}) {
                to(next -> {
                    next[APPLIED + step]++;
                    if (bug == Bug.RECORD_AFTER_STEP) {
                        next[at + PC] = STEP_RECORD;
                    } else {
                        next[RECORD + step] = now[at + MINE];
                        if (answered) {
                            go(next, at);
                        } else {
                            next[at + PC] = STEP_LOOK;
                        }
                    }
                });
            }
            to(next -> next[at + PC] = STEP_LOOK); // the connection is lost before the commit
        }
    }

    private static void go(int[] next, int at) {
        next[at + NEXT]++;
        next[at + PC] = PROGRAM;
    }

    private void effect(int at) {
        int seen = now[at + SEEN];
        int first = bug == Bug.INTENT_AFTER_CALL ? CALL : WRITE_INTENT;
        to(next -> {
            if (seen == DONE) {
                go(next, at);
            } else if (seen == NOTHING || bug == Bug.UNKNOWN_IS_NOT_DONE || rule == Rule.RETRY) {
                next[at + PC] = first;
            } else {
                next[at + PC] = rule == Rule.ASK ? ASK : PARK_UNKNOWN;
            }
        });
    }

    private void write(int at, int pc) {
        Change change = next -> {
            switch (pc) {
                case WRITE_INTENT -> {
                    next[LEDGER] = INTENT;
                    next[at + PC] = CALL;
                }
                case WRITE_DONE -> {
                    require(holds(at), "a result is written without the lease", next);
                    next[LEDGER] = DONE;
                    go(next, at);
                }
                case WRITE_UNKNOWN -> {
                    next[LEDGER] = bug == Bug.FAILURE_IS_NOT_DONE ? NOTHING : UNKNOWN;
                    next[at + PC] = FAIL;
                }
                default -> {
                    next[LEDGER] = UNKNOWN;
                    next[at + PC] = PARK_MOVE;
                }
            }
        };
        if (pc == WRITE_DONE && bug == Bug.DONE_WITHOUT_FENCE) {
            to(change);
        } else {
            fenced(at, change);
        }
    }

    private void call(int at) {
        int bit = 1 << now[at + MINE];
        int unsettled = (now[PENDING] | now[EXECUTED]) & ~now[CLEARED] & ~bit;
        to(next -> {
            // Not of workers that were paused before their call: nobody can stop those but the provider, by their
            // fence.
            boolean mayRepeat = rule == Rule.RETRY || unsettled == 0 || !holds(at);
            require(mayRepeat, "called again although a call before may have been made", next);
            boolean old = Integer.highestOneBit(now[PENDING] | now[EXECUTED] | now[CLEARED] | bit) != bit;
            next[old ? REFUSED : PENDING] |= bit; // LS-11: an older fence than one it knows is refused
            next[KEYS] |= bug == Bug.KEY_OF_THE_RUN ? bit : 1;
            next[at + PC] = WAIT;
        });
    }

    /** What the network and the provider do by themselves. */
    private void network() {
        for (int fence = 1; fence <= mostRuns; fence++) {
            int bit = 1 << fence;
            if ((now[PENDING] & bit) == 0) {
                continue;
            }
            to(
                    next -> { // it arrives
                        next[PENDING] &= ~bit;
                        if ((now[CLEARED] & bit) != 0) {
                            next[REFUSED] |= bit;
                        } else {
                            next[EXECUTED] |= bit;
                            next[CHARGES] += rule == Rule.RETRY && now[CHARGES] > 0 ? 0 : 1;
                        }
                    });
            to(
                    next -> { // the provider is too busy, and says so
                        next[PENDING] &= ~bit;
                        next[REFUSED] |= bit;
                    });
        }
    }

    private void answers(int at) {
        int bit = 1 << now[at + MINE];
        if ((now[EXECUTED] & bit) != 0) {
            to(next -> {
                next[at + PC] = WRITE_DONE;
                if (bug == Bug.INTENT_AFTER_CALL) {
                    next[LEDGER] = INTENT;
                }
            });
        }
        if ((now[REFUSED] & bit) != 0) {
            to(next -> next[at + PC] = ERASE);
        }
        to(next -> next[at + PC] = WRITE_UNKNOWN); // the answer is lost, or does not come in time
    }

    private void ask(int at) {
        boolean made = now[CHARGES] > 0;
        to(next -> {
            if (made) {
                next[at + PC] = WRITE_DONE;
            } else {
                next[CLEARED] |= (1 << now[at + MINE]) - 1; // whatever older request is on its way will be refused
                next[at + PC] = WRITE_INTENT;
            }
        });
        to(next -> next[at + PC] = WRITE_UNKNOWN); // it cannot say
    }

    private void complete(int at) {
        Change change = next -> {
            next[STATUS] = COMPLETED;
            forget(next, at);
        };
        if (bug == Bug.NO_FENCE_AT_COMPLETE) {
            to(next -> {
                require(holds(at), "completed without the lease", next);
                change.on(next);
            });
        } else {
            fenced(at, change);
        }
    }
}
