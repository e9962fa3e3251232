package dev.idem.bench.contender;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Who is measured. */
public final class Contenders {
    /** The libraries of others, by the names they have in reports. */
    public static final List<String> PEERS = List.of("camel", "spring-integration", "tram");

    private Contenders() {}

    /** Everyone, with a transaction for each message. */
    public static List<Contender> inline(DataSource dataSource) throws SQLException {
        List<Contender> contenders = new ArrayList<>();
        contenders.add(new Floor(dataSource));
        contenders.addAll(oneByOne(dataSource));
        contenders.add(idem(IdemSetup.fresh("idem", dataSource)));
        return contenders;
    }

    /** Those who recognise duplicates and know no batches. */
    public static List<Contender> oneByOne(DataSource dataSource) throws SQLException {
        return List.of(
                new Hand(dataSource), new Camel(dataSource), new SpringIntegration(dataSource), new Tram(dataSource));
    }

    /** A batch without any protection, and by hand without isolation. */
    public static List<Contender> batchReferences(DataSource dataSource) throws SQLException {
        return List.of(new FloorBatch(dataSource), new HandBatchEach(dataSource));
    }

    /** A batch without any protection, with markers, and with positions. */
    public static List<Contender> watermark(DataSource dataSource) {
        return List.of(
                new FloorBatch(dataSource),
                idemBatch(IdemSetup.fresh("idem-batch", dataSource)),
                IdemBatch.watermark(new IdemSetup("idem-watermark", dataSource, "idem_", List.of("idem_watermark"))));
    }

    public static Contender idem(IdemSetup setup) {
        return new Idem(setup);
    }

    /** A batch whose handlers are called one by one, and of which some per cent fail. */
    public static Contender idemEach(IdemSetup setup, int failing) {
        return IdemBatch.each(setup, failing);
    }

    /** A batch whose handlers are called one by one, with a round trip for each savepoint. */
    public static Contender idemApart(IdemSetup setup) {
        return IdemBatch.apart(setup);
    }

    /** A batch whose handlers are called one by one and defer their statements. */
    public static Contender idemDeferred(IdemSetup setup) {
        return IdemBatch.deferred(setup);
    }

    /** A batch with one handler for all. */
    public static Contender idemBatch(IdemSetup setup) {
        return IdemBatch.together(setup);
    }
}
