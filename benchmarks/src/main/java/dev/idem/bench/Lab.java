package dev.idem.bench;

import dev.idem.bench.load.Load;
import dev.idem.bench.load.Rounds;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** What a bench works with: an empty database that has the payment table, and the settings of the run. */
record Lab(DataSource dataSource, Settings settings, Consumer<String> progress) {
    Load load() {
        return new Load(dataSource);
    }

    Rounds rounds() {
        return new Rounds(load(), settings.rounds(), settings.time(), progress);
    }
}
