package dev.idem.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds a port on the loopback address.
 *
 * <p>Ports come from below the range that the kernel gives to outgoing connections. Otherwise a client that keeps
 * trying to reach a killed server can be given that very port, connect to itself and keep the server from coming back.
 */
final class FreePort {
    private static final int FIRST = 15_000;
    private static final int LAST = 32_000;
    private static final int TRIES = 1_000;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private FreePort() {}

    static int find() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new ServerException("No free port between " + FIRST + " and " + LAST + " on 127.0.0.1", null);
    }

    private static boolean isFree(int port) {
        try (var socket = new ServerSocket(port, 1, InetAddress.getByAddress(LOOPBACK))) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
