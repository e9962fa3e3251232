package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;
import java.util.List;

/** Idem's listener for a broker, with the defaults of listener, consumer and inbox. */
final class IdemListener implements BrokerContender {
    private final IdemSetup setup;
    private final Form form;
    private final boolean watermark;
    private final int share;

    IdemListener(IdemSetup setup, Form form, boolean watermark, int share) {
        this.setup = setup;
        this.form = form;
        this.watermark = watermark;
        this.share = share;
        setup.inbox().close(); // its tables must be there
    }

    @Override
    public String name() {
        return setup.name();
    }

    @Override
    public List<String> tables() {
        return setup.emptied();
    }

    @Override
    public int share() {
        return share;
    }

    /** With an inbox of its own, because one that goes on would remember the positions of the round before. */
    @Override
    public Broker.Taking start(Broker broker, Meter meter) throws Exception {
        Consumer.Builder builder =
                watermark ? Consumer.named(IdemBatch.BY_POSITION).watermark() : IdemSetup.consumer();
        Inbox inbox = setup.inbox();
        Broker.Taking listener = broker.listen(form.consumer(builder, meter), inbox);
        return () -> {
            listener.close();
            inbox.close();
        };
    }
}
