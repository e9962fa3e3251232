/** Listens to Kafka, with an inbox behind it. */
module dev.idem.kafka {
    requires transitive dev.idem.core;
    requires transitive kafka.clients;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports dev.idem.kafka;
}
