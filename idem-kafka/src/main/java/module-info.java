/** Listens to Kafka, with an inbox behind it. */
module dev.idem.kafka {
    requires transitive dev.idem.core;
    requires static transitive org.jspecify;
    requires kafka.clients;
    requires org.slf4j;

    exports dev.idem.kafka;
}
