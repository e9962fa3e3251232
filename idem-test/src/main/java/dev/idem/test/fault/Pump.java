package dev.idem.test.fault;

import java.io.IOException;
import java.io.InputStream;

/** Carries the bytes of one direction of one connection, and does to them what the lane says. */
final class Pump {
    private static final int CHUNK = 16 * 1024;

    private final Links links;
    private final Link link;
    private final Direction direction;
    private final Lane lane;
    private volatile boolean cutAtNextByte;

    Pump(Links links, Link link, Direction direction) {
        this.links = links;
        this.link = link;
        this.direction = direction;
        this.lane = links.lane(direction);
    }

    void run(Pump opposite) {
        try {
            pumpToEnd(opposite);
            link.leave();
        } catch (IOException | InterruptedException broken) {
            link.reset(); // one side is gone: let the other know
        }
    }

    private void pumpToEnd(Pump opposite) throws IOException, InterruptedException {
        byte[] chunk = new byte[CHUNK];
        InputStream in = link.sender(direction).getInputStream();
        for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
            lane.admit(link);
            if (cutAtNextByte) {
                links.fired();
                link.reset();
                return;
            }
            if (link.hasEnded(direction)) {
                continue; // read on, or the sender would notice
            }
            Verdict verdict = lane.judge(link, chunk, length);
            switch (verdict.action()) {
                case FLOW -> forward(chunk, verdict.pass());
                case DROP_REPLY -> {
                    opposite.cutAtNextByte = true;
                    forward(chunk, verdict.pass());
                }
                case CUT -> {
                    cutBehind(chunk, verdict.pass());
                    return;
                }
            }
        }
        if (!link.hasEnded(direction)) {
            link.halfClose(direction);
        }
    }

    /**
     * Delivers the last bytes and cuts. The receiver gets an orderly end and the opposite pump goes on reading from it,
     * since a reset could overtake the bytes. The other direction is muted first, or a fast reply could slip through.
     */
    private void cutBehind(byte[] chunk, int length) throws IOException {
        link.end(direction.opposite());
        forward(chunk, length);
        links.fired();
        Link.reset(link.sender(direction));
        link.halfClose(direction);
    }

    private void forward(byte[] chunk, int length) throws IOException {
        try {
            link.receiver(direction).getOutputStream().write(chunk, 0, length);
        } catch (IOException failure) {
            if (!link.hasEnded(direction)) {
                throw failure;
            }
        }
    }
}
