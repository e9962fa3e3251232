package dev.idem.jdbc.internal.sql;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of everything in a store: its users set one level, by the name of {@code JdbcStore}, whichever class writes. */
public final class StoreLog {
    public static final Logger LOG = LoggerFactory.getLogger("dev.idem.jdbc.JdbcStore");

    private StoreLog() {}
}
