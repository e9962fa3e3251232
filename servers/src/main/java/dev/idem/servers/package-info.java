/**
 * Real servers for tests, demos and benchmarks: started from unpacked binaries on 127.0.0.1, killed, paused and restarted
 * at will, and gone when this JVM is gone, however it ends.
 */
@NullMarked
package dev.idem.servers;

import org.jspecify.annotations.NullMarked;
