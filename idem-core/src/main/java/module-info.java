/** The idea: an inbox in front of a handler, and the SPI of the stores that remember what is done. */
module dev.idem.core {
    requires transitive java.sql;
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires static transitive java.net.http; // for whoever sends effects with its client

    exports dev.idem;
    exports dev.idem.broker;
    exports dev.idem.spi;

    uses dev.idem.broker.EventFormats;
}
