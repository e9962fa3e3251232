/** Jakarta Messaging: queues through an inbox, with dead letters. */
module dev.idem.jms {
    requires transitive dev.idem.core;
    requires transitive jakarta.messaging;
    requires static org.jspecify;
    requires org.slf4j;

    exports dev.idem.jms;
}
