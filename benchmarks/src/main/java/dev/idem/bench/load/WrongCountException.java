package dev.idem.bench.load;

/** A contender lost a payment or paid twice: its speed means nothing. */
public final class WrongCountException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongCountException(String contender, Workload workload, long expected, long paid, long orders) {
        super("WRONG COUNT: " + contender + " (" + workload + ") had to pay " + expected + " times, and paid " + paid
                + " times for " + orders + " orders. Nothing of this run can be trusted");
    }
}
