/** The idea: an inbox in front of a handler, and the SPI of the stores that remember what is done. */
@SuppressWarnings("module") // the test kit is compiled later
module dev.idem.core {
    requires transitive java.sql;
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires static transitive java.net.http; // for whoever sends effects with its client

    exports dev.idem;
    exports dev.idem.batch;
    exports dev.idem.broker;
    exports dev.idem.broker.spi;
    exports dev.idem.join;
    exports dev.idem.queue;
    exports dev.idem.replay;
    exports dev.idem.sequence;
    exports dev.idem.spi;
    exports dev.idem.steps;

    // Contracts of stores compute keys as the inbox does.
    exports dev.idem.internal.consumer to
            dev.idem.test;

    uses dev.idem.broker.EventFormats;
}
