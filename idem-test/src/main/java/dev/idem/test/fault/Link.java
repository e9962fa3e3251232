package dev.idem.test.fault;

import java.io.IOException;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** One connection through the proxy: two sockets and a {@link Pump} for each direction. */
final class Link {
    private static final int CONNECT_MILLIS = 5_000;

    private final Links links;
    private final Socket client;
    private final Socket server = new Socket();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicInteger pumping = new AtomicInteger(2);
    private final Set<Direction> ended = EnumSet.noneOf(Direction.class);

    Link(Links links, Socket client) {
        this.links = links;
        this.client = client;
    }

    void start() {
        String name = "idem-proxy-" + links.port() + "-" + client.getPort();
        var requests = new Pump(links, this, Direction.CLIENT_TO_SERVER);
        var replies = new Pump(links, this, Direction.SERVER_TO_CLIENT);
        startDaemon(name + "-requests", () -> {
            try {
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                server.connect(links.target(), CONNECT_MILLIS);
            } catch (IOException failure) {
                reset();
                return;
            }
            startDaemon(name + "-replies", () -> replies.run(requests));
            requests.run(replies);
        });
    }

    Socket sender(Direction direction) {
        return direction == Direction.CLIENT_TO_SERVER ? client : server;
    }

    Socket receiver(Direction direction) {
        return sender(direction.opposite());
    }

    boolean isClosed() {
        return closed.get();
    }

    /** Whether bytes of this direction are no longer forwarded. */
    boolean hasEnded(Direction direction) {
        synchronized (ended) {
            return ended.contains(direction);
        }
    }

    void end(Direction direction) {
        synchronized (ended) {
            ended.add(direction);
        }
    }

    /** The receiver sees the end of the stream; what the sender still sends is thrown away. */
    void halfClose(Direction direction) {
        end(direction);
        quietly(receiver(direction)::shutdownOutput);
    }

    /** Called by each pump that has come to its end; the second one closes both sides in order. */
    void leave() {
        if (pumping.decrementAndGet() == 0 && closed.compareAndSet(false, true)) {
            quietly(client::close);
            quietly(server::close);
            links.forget(this);
        }
    }

    /** Both sides see a reset, now. */
    void reset() {
        if (closed.compareAndSet(false, true)) {
            reset(client);
            reset(server);
            links.forget(this);
        }
    }

    static void reset(Socket socket) {
        quietly(() -> socket.setSoLinger(true, 0)); // closing then sends a reset
        quietly(socket::close);
    }

    interface Attempt {
        void run() throws IOException;
    }

    static void quietly(Attempt attempt) {
        try {
            attempt.run();
        } catch (IOException alreadyClosed) {
            // The socket is to be closed: that it already is, is no news.
        }
    }

    static void startDaemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
