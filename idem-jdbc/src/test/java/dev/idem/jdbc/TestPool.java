package dev.idem.jdbc;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.jdbc.schema.Database;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.mariadb.jdbc.MariaDbPoolDataSource;
import org.postgresql.ds.PGPoolingDataSource;

/** The pools that services use, and one that people write by hand. */
enum TestPool {
    /** Throws its handles away: nothing can be done with one that was closed. */
    HIKARI {
        @Override
        Opened open(Db db, int size) {
            HikariDataSource pool = db.pool(size);
            return new Opened(pool, pool::close);
        }
    },
    /** Hands out the same object again. */
    REUSING {
        @Override
        Opened open(Db db, int size) {
            ReusingPool pool = new ReusingPool(size, db.plain());
            return new Opened(pool.dataSource(), pool::close);
        }
    },
    DBCP2 {
        @Override
        Opened open(Db db, int size) {
            BasicDataSource pool = new BasicDataSource();
            pool.setUrl(db.url());
            pool.setMaxTotal(size);
            return new Opened(pool, pool::close);
        }
    },
    C3P0 {
        @Override
        Opened open(Db db, int size) {
            ComboPooledDataSource pool = new ComboPooledDataSource();
            pool.setJdbcUrl(db.url());
            pool.setInitialPoolSize(size);
            pool.setMinPoolSize(size);
            pool.setMaxPoolSize(size);
            return new Opened(pool, pool::close);
        }
    },
    /** The one that comes with the driver. */
    DRIVER {
        @Override
        Opened open(Db db, int size) throws SQLException {
            return switch (db.kind()) {
                case POSTGRESQL -> postgres(db, size);
                case MARIADB -> {
                    MariaDbPoolDataSource pool = new MariaDbPoolDataSource(db.url("maxPoolSize=" + size));
                    yield new Opened(pool, pool::close);
                }
                case H2 -> {
                    JdbcConnectionPool pool = JdbcConnectionPool.create(db.url(), "", "");
                    pool.setMaxConnections(size);
                    yield new Opened(pool, pool::dispose);
                }
            };
        }

        @SuppressWarnings("deprecation") // people use it all the same
        private Opened postgres(Db db, int size) {
            PGPoolingDataSource pool = new PGPoolingDataSource();
            pool.setDataSourceName(db.url()); // without a name it cannot be closed
            pool.setUrl(db.url());
            pool.setMaxConnections(size);
            return new Opened(pool, pool::close);
        }
    };

    abstract Opened open(Db db, int size) throws SQLException;

    /** Whether it is the very same object that is handed out again, so that closing it twice would be felt by another. */
    boolean handsOutAgain(Database database) {
        return this == REUSING || (this == DRIVER && database == Database.MARIADB);
    }

    /** A pool, and how it is closed. */
    record Opened(DataSource source, Closing closing) implements AutoCloseable {
        @Override
        public void close() throws SQLException {
            closing.close();
        }
    }

    @FunctionalInterface
    interface Closing {
        void close() throws SQLException;
    }
}
