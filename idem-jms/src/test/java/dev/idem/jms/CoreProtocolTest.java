package dev.idem.jms;

import dev.idem.test.contract.BrokerUnderTest;

/** Artemis through its own client, in transactions. */
class CoreProtocolTest extends JmsContract {
    @Override
    protected BrokerUnderTest broker() {
        return new QueueUnderTest(artemis, artemis.core(), options -> options);
    }
}
