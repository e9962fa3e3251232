package dev.idem.cli.demo;

/**
 * A SIGKILL for a consumer.
 *
 * @param afterSettled due when so many publications are settled
 * @param window where a delivery has to be when it comes; NONE for any moment
 * @param delayMillis how long after it is due, for a kill at any moment
 */
record Kill(int afterSettled, CrashWindow window, int delayMillis) {}
