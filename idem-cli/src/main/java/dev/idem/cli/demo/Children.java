package dev.idem.cli.demo;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/** The processes of this demo. None is started after, and none survives, {@link #close}. Thread-safe. */
public final class Children implements AutoCloseable {
    private final Set<Process> live = new HashSet<>();
    private boolean closed;

    public synchronized Process start(ProcessBuilder builder) throws IOException {
        if (closed) {
            throw new IOException("The demo is ending");
        }
        live.removeIf(process -> !process.isAlive());
        Process process = builder.start();
        live.add(process);
        return process;
    }

    @Override
    public synchronized void close() {
        closed = true;
        live.forEach(Process::destroyForcibly);
        for (Process process : live) {
            try {
                process.waitFor();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }
        live.clear();
    }
}
