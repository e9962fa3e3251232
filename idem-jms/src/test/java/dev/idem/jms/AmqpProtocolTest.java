package dev.idem.jms;

import dev.idem.test.contract.BrokerUnderTest;

/** Artemis through AMQP 1.0 with Qpid JMS, each message acknowledged by itself. */
class AmqpProtocolTest extends JmsContract {
    @Override
    protected BrokerUnderTest broker() {
        return new QueueUnderTest(artemis, artemis.amqp(), options -> options.acknowledging(Acknowledging.INDIVIDUAL));
    }
}
