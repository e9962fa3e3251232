/** Listens to RabbitMQ queues, sets aside what cannot be done, and sends it again. */
module dev.idem.rabbitmq {
    requires transitive com.rabbitmq.client;
    requires transitive dev.idem.core;
    requires static org.jspecify;
    requires org.slf4j;

    exports dev.idem.rabbitmq;
}
