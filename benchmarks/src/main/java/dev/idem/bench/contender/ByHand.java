package dev.idem.bench.contender;

import java.util.List;

/** The broker's own client, and something that processes what it brings. */
record ByHand(String name, Contender processing, int share) implements BrokerContender {
    @Override
    public List<String> tables() {
        return processing.tables();
    }

    @Override
    public Broker.Taking start(Broker broker, Meter meter) throws Exception {
        return broker.loop(processing, meter);
    }
}
