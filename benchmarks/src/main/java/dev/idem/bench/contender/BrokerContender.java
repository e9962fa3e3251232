package dev.idem.bench.contender;

import java.util.List;

/** One way to take messages from a broker and to pay them. Its tables exist when it does. */
public interface BrokerContender {
    String name();

    /** What is emptied before each measurement, besides the payments. */
    List<String> tables();

    /** Of how many messages it gets one: a round must not wait for who is slow. */
    int share();

    /** Begins to take what the broker was filled with. */
    Broker.Taking start(Broker broker, Meter meter) throws Exception;
}
