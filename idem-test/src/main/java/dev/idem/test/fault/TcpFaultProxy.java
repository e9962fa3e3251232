package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A TCP proxy on 127.0.0.1 that breaks connections on demand. Point the client at {@link #port()} instead of at the
 * server.
 *
 * <p>{@link #cut} and {@link #halfClose} act on the connections open now; stalls, delays and traps on all, also on
 * later ones. A trap ({@link #cutAfterBytes}, {@link #cutWhen}) strikes once, on the first connection that meets it;
 * each direction has at most one, and a new one replaces it. The bytes that a trap lets pass do arrive: the side that
 * sent them sees a reset, the side that gets them sees the end of the stream behind them.
 *
 * <p>Thread-safe.
 */
public final class TcpFaultProxy implements AutoCloseable {
    private final Links links;

    private TcpFaultProxy(Links links) {
        this.links = links;
    }

    /** A running proxy to a port of this machine. */
    public static TcpFaultProxy to(int port) {
        return to("127.0.0.1", port);
    }

    /** A running proxy to a port of the given host. */
    public static TcpFaultProxy to(String host, int port) {
        return new TcpFaultProxy(Links.listening(new InetSocketAddress(host, port)));
    }

    /** The port to connect to. */
    public int port() {
        return links.port();
    }

    /** Resets all open connections, on both sides. */
    public void cut() {
        links.strikeAll(Link::reset);
    }

    /**
     * Ends the stream of one direction on all open connections: its receiver sees the end, its sender notices nothing.
     */
    public void halfClose(Direction direction) {
        links.strikeAll(link -> link.halfClose(direction));
    }

    /** Holds back the bytes of one direction until {@link #resume}; connections stay open. */
    public void stall(Direction direction) {
        links.lane(direction).stall(true);
    }

    /** Lets the bytes of one direction flow again. */
    public void resume(Direction direction) {
        links.lane(direction).stall(false);
    }

    /** Holds every piece of data of one direction for this long; zero, the default, ends it. */
    public void delay(Direction direction, Duration time) {
        links.lane(direction).delay(requireNonNull(time, "time"));
    }

    /** Cuts the connection that carries the n-th byte from now on in this direction, exactly behind that byte. */
    public void cutAfterBytes(Direction direction, long n) {
        links.lane(direction).arm(new ByteTrap(n));
    }

    /**
     * Cuts the connection on which this text next appears in this direction, also when it comes in pieces.
     *
     * <p>A driver may send the text of a statement once and from then on only its name: pgjdbc does so with COMMIT.
     * There the dependable sign is PostgreSQL's answer: {@code COMMIT} from server to client, cut {@link Cut#BEFORE},
     * is a commit that was made and never heard of. MariaDB's answer has no text, but its driver sends {@code COMMIT}
     * each time.
     */
    public void cutWhen(Direction direction, String text, Cut cut) {
        cutWhen(direction, text.getBytes(StandardCharsets.UTF_8), cut);
    }

    /** Cuts the connection on which these bytes next appear in this direction, also when they come in pieces. */
    public void cutWhen(Direction direction, byte[] pattern, Cut cut) {
        links.lane(direction).arm(new PatternTrap(pattern, cut));
    }

    /** Removes traps, stalls and delays; what is cut stays cut. */
    public void heal() {
        for (Direction direction : Direction.values()) {
            links.lane(direction).heal();
        }
    }

    /** Resets new connections as soon as they are made. */
    public void refuseNew() {
        links.refuse(true);
    }

    /** Lets new connections through again. */
    public void acceptNew() {
        links.refuse(false);
    }

    /** How many connections were accepted so far; refused ones are not among them. */
    public int connections() {
        return links.accepted();
    }

    /** How many connections are open now. */
    public int openConnections() {
        return links.open();
    }

    /** How many bytes were forwarded so far in this direction. */
    public long bytes(Direction direction) {
        return links.lane(direction).bytes();
    }

    /** How many times a connection was cut, half-closed or refused so far. */
    public int faultsFired() {
        return links.faultsFired();
    }

    /** Stops listening and resets all connections. */
    @Override
    public void close() {
        links.close();
    }
}
