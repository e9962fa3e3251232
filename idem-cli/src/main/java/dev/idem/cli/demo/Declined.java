package dev.idem.cli.demo;

/** A payment that will never be made. */
final class Declined extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Declined(Payment payment) {
        super(payment.order() + " was declined");
    }
}
