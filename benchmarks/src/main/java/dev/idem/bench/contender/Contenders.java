package dev.idem.bench.contender;

import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** Who is measured. */
public final class Contenders {
    /** The libraries of others, by the names they have in reports. */
    public static final List<String> PEERS = List.of("camel", "spring-integration", "tram");

    private Contenders() {}

    /** Everyone, with a transaction for each message. */
    public static List<Contender> inline(DataSource dataSource) throws SQLException {
        return List.of(
                new Floor(dataSource),
                new Hand(dataSource),
                new Camel(dataSource),
                new SpringIntegration(dataSource),
                new Tram(dataSource),
                new Idem(dataSource));
    }

    /** Idem with tables of its own, of which the named ones are emptied before each measurement. */
    public static Contender idem(String name, DataSource dataSource, String prefix, String... emptied) {
        return new Idem(name, dataSource, prefix, emptied);
    }
}
