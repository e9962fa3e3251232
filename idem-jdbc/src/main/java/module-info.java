/** The relational store: PostgreSQL, MariaDB and H2; what differs between them is data. */
module dev.idem.jdbc {
    requires transitive dev.idem.core;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.idem.jdbc;
    exports dev.idem.jdbc.admin;
    exports dev.idem.jdbc.schema;
}
