package dev.idem.servers;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Asks a broker, in the oldest words of its protocol, whether it serves: it takes connections well before that. */
final class KafkaProbe {
    private static final int LIMIT_MILLIS = 2_000;
    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private KafkaProbe() {}

    static void requireBroker(int port) throws IOException {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), LIMIT_MILLIS);
            socket.setSoTimeout(LIMIT_MILLIS);
            var out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(14); // bytes that follow
            out.writeShort(3); // Metadata
            out.writeShort(0); // version 0
            out.writeInt(1); // correlation
            out.writeShort(-1); // no client id
            out.writeInt(0); // of all topics
            out.flush();
            var in = new DataInputStream(socket.getInputStream());
            in.readInt(); // bytes that follow
            in.readInt(); // correlation
            if (in.readInt() < 1) {
                throw new IOException("The broker does not serve yet");
            }
        }
    }
}
