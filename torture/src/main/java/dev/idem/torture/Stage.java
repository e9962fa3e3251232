package dev.idem.torture;

import dev.idem.test.fault.TcpFaultProxy;
import java.util.function.LongFunction;

/**
 * What a campaign plays on.
 *
 * @param url the database, past the proxy
 * @param proxy the workers' way to the database
 * @param victim the server that is killed
 * @param traffic makes the stream of messages, from a seed
 */
record Stage(
        TortureSettings settings,
        Plan plan,
        String url,
        TcpFaultProxy proxy,
        Victim victim,
        LongFunction<Traffic> traffic) {
    Traffic traffic(long seed) {
        return traffic.apply(seed);
    }
}
