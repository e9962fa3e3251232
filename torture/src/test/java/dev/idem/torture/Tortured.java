package dev.idem.torture;

import dev.idem.servers.RabbitServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A campaign that has ended, on a seed of its own each time. {@code -Didem.torture.seed=…} repeats one; it prints how.
 *
 * @param cli what it said
 */
record Tortured(long seed, Cli cli) {
    /** Runs {@code idem torture} with these arguments. */
    static Tortured by(String... arguments) {
        if (arguments[0].equals(Subject.RABBITMQ.label()) && !RabbitServer.available()) {
            RabbitServer.start(); // throws what lets a test be skipped; the command would turn that into its own words
        }
        long seed =
                Long.getLong("idem.torture.seed", ThreadLocalRandom.current().nextInt(1, 1_000_000_000));
        List<String> all = new ArrayList<>(List.of("torture"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--seed", Long.toString(seed), "--json"));
        Cli cli = Cli.run(all.toArray(String[]::new));
        System.out.println(cli.err() + cli.out());
        return new Tortured(seed, cli);
    }

    /** How long a campaign of the long lane is. */
    static String longMinutes() {
        return System.getProperty("idem.torture.minutes", "60");
    }

    JsonNode report() {
        return JsonMapper.shared().readTree(cli.lastLine());
    }

    int number(String name) {
        return report().get(name).intValue();
    }
}
