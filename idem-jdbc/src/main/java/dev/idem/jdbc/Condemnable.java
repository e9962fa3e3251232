package dev.idem.jdbc;

/** A connection of ours that can forbid its commit by itself. Found by {@code unwrap}, through whatever wraps it. */
interface Condemnable {
    /** From now on its transaction can only be rolled back. */
    void condemn();
}
