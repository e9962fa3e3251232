package dev.idem.cli.demo;

import java.util.Locale;

/** When the consumer with Idem acknowledges. */
enum DemoMode {
    /** When the charge is committed. */
    INLINE,
    /** When the message is stored; workers charge later, retry what fails, and park what keeps failing. */
    QUEUED;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
