package dev.idem.bench.report;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where it was measured.
 *
 * @param fileSystem of the server's data, and null when the server is not ours
 * @param fsyncMicros the median time of an fdatasync of 8 KB beside the server's data, and null when it is not ours
 * @param roundTripMicros the median time of the smallest statement
 * @param durability the server's settings about it
 */
public record Machine(
        int cores,
        double memoryGigabytes,
        String os,
        String jdk,
        @Nullable String fileSystem,
        @Nullable Double fsyncMicros,
        double roundTripMicros,
        String durability) {

    @Override
    public String toString() {
        String disk = fsyncMicros == null
                ? "the database's disk is not ours to measure"
                : String.format(Locale.ROOT, "fdatasync %.0f µs on %s", fsyncMicros, fileSystem);
        return String.format(
                Locale.ROOT,
                "%d cores, %.0f GB, %s, Java %s; %s; round trip %.0f µs; %s",
                cores,
                memoryGigabytes,
                os,
                jdk,
                disk,
                roundTripMicros,
                durability);
    }
}
