package dev.idem.bench.contender;

import java.util.List;

/** A contender with a transaction for each message. */
abstract class OneByOne implements Contender {
    private final String name;
    private final List<String> tables;

    OneByOne(String name, String... tables) {
        this.name = name;
        this.tables = List.of(tables);
    }

    abstract void handle(Delivery delivery) throws Exception;

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final List<String> tables() {
        return tables;
    }

    @Override
    public final int mostTogether() {
        return 1;
    }

    @Override
    public final void handle(List<Delivery> batch) throws Exception {
        for (Delivery delivery : batch) {
            handle(delivery);
        }
    }
}
