package dev.idem.test.fault;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Sends back what it gets, and remembers it. */
final class EchoServer implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final Queue<String> ends = new ConcurrentLinkedQueue<>();

    EchoServer() throws IOException {
        Link.startDaemon("echo", this::acceptAll);
    }

    int port() {
        return listener.getLocalPort();
    }

    String received() {
        synchronized (received) {
            return received.toString(StandardCharsets.UTF_8);
        }
    }

    /** How connections ended for this side: {@code end of stream} or {@code reset}. */
    Queue<String> ends() {
        return ends;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket socket = listener.accept();
                sockets.add(socket);
                Link.startDaemon("echo-" + socket.getPort(), () -> echo(socket));
            }
        } catch (IOException closed) {
            // the end
        }
    }

    private void echo(Socket socket) {
        byte[] chunk = new byte[4096];
        try (socket) {
            InputStream in = socket.getInputStream();
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                synchronized (received) {
                    received.write(chunk, 0, length);
                }
                socket.getOutputStream().write(chunk, 0, length);
            }
            ends.add("end of stream");
        } catch (IOException reset) {
            ends.add("reset");
        }
    }
}
