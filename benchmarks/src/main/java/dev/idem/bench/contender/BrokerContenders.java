package dev.idem.bench.contender;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Who is measured with a broker. */
public final class BrokerContenders {
    /** A commit for each message is slow on every disk. */
    private static final int ONE_BY_ONE = 20;

    /** A round trip for each message. */
    private static final int SINGLE_STATEMENTS = 4;

    private BrokerContenders() {}

    /** Those whose broker has no positions. */
    public static List<BrokerContender> withMarkers(DataSource dataSource) throws SQLException {
        return List.of(
                new ByHand("floor", new FloorBatch(dataSource), 1),
                new ByHand("hand", new Hand(dataSource), ONE_BY_ONE),
                new IdemListener(IdemSetup.fresh("idem-marker", dataSource), Form.DEFERRED, false, 1),
                new IdemListener(IdemSetup.fresh("idem-batch", dataSource), Form.TOGETHER, false, 1),
                new IdemListener(IdemSetup.fresh("idem-plain", dataSource), Form.EACH, false, SINGLE_STATEMENTS));
    }

    /** The same, and one that keeps a mark for each partition. */
    public static List<BrokerContender> withPositions(DataSource dataSource) throws SQLException {
        List<BrokerContender> contenders = new ArrayList<>(withMarkers(dataSource));
        var setup = new IdemSetup("idem-watermark", dataSource, "idem_", List.of("idem_watermark"));
        contenders.add(new IdemListener(setup, Form.TOGETHER, true, 1));
        return contenders;
    }
}
