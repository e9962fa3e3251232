package dev.idem.test.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The open connections of a proxy, the socket new ones come from, and what is counted. */
final class Links {
    private static final long CLOSE_MILLIS = 2_000;

    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final Lane requests = new Lane();
    private final Lane replies = new Lane();
    private final Set<Link> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger faultsFired = new AtomicInteger();
    private final Thread acceptor;
    private volatile boolean refusing;

    private Links(ServerSocket listener, InetSocketAddress target) {
        this.listener = listener;
        this.target = target;
        this.acceptor = new Thread(this::acceptAll, "idem-proxy-" + listener.getLocalPort());
    }

    static Links listening(InetSocketAddress target) {
        try {
            var listener = new ServerSocket(0, 200, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
            var links = new Links(listener, target);
            links.acceptor.setDaemon(true);
            links.acceptor.start();
            return links;
        } catch (IOException failure) {
            throw new UncheckedIOException("Could not listen on 127.0.0.1", failure);
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    InetSocketAddress target() {
        return target;
    }

    Lane lane(Direction direction) {
        return direction == Direction.CLIENT_TO_SERVER ? requests : replies;
    }

    void refuse(boolean all) {
        refusing = all;
    }

    int accepted() {
        return accepted.get();
    }

    int open() {
        return open.size();
    }

    int faultsFired() {
        return faultsFired.get();
    }

    /** Counts a fault; called before it strikes, so that whoever feels it finds it counted. */
    void fired() {
        faultsFired.incrementAndGet();
    }

    void strikeAll(Consumer<Link> fault) {
        for (Link link : open) {
            fired();
            fault.accept(link);
        }
    }

    void forget(Link link) {
        open.remove(link);
        requests.wake();
        replies.wake();
    }

    void close() {
        Link.quietly(listener::close);
        open.forEach(Link::reset);
        try {
            acceptor.join(CLOSE_MILLIS); // the system goes on listening for as long as a thread waits for connections
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                accept(listener.accept());
            } catch (IOException failure) {
                // Closed, which ends the loop, or one client that left while connecting.
            }
        }
    }

    private void accept(Socket client) {
        if (refusing) {
            fired();
            Link.reset(client);
            return;
        }
        accepted.incrementAndGet();
        var link = new Link(this, client);
        open.add(link);
        link.start();
        if (listener.isClosed()) {
            link.reset(); // close() may have looked too early to find it
        }
    }
}
