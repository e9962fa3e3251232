package dev.idem.spi;

import javax.sql.DataSource;

/**
 * A data source whose database belongs to a test: a store may create in it whatever it lacks, and keeps quiet at its start
 * about how the server is set up. Test kits wrap theirs in it; never for a database that anybody else needs.
 */
public interface TestDataSource extends DataSource {}
