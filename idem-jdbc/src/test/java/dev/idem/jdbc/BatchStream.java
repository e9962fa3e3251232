package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A broker with a random stream: delivers from the first message that is not settled, with repeats, in the order of the
 * stream, and believes nothing that it hears. Thread-safe.
 */
final class BatchStream {
    static final int MOST_DELIVERIES = 400;

    private final BatchWorld world;
    private final String prefix;
    private final List<BatchPlan> plans;
    private final Set<String> acknowledged = new HashSet<>();
    private final Set<String> setAside = new HashSet<>();

    BatchStream(BatchWorld world, Random random, String prefix, int messages, int troublePercent) {
        this.world = world;
        this.prefix = prefix;
        this.plans = BatchPlan.stream(random, prefix, messages, troublePercent);
        world.add(plans);
    }

    synchronized boolean isSettled() {
        return acknowledged.size() + setAside.size() == plans.size();
    }

    /** Delivers until all is settled; after Busy a little later, as every broker should. */
    void drain(Random random, Inbox inbox, Consumer consumer) throws Exception {
        List<Outcome<?>> last = List.of();
        for (int i = 0; i < MOST_DELIVERIES && !isSettled(); i++) {
            List<Message> batch = next(random);
            last = inbox.acceptAll(consumer, batch);
            hear(batch, last);
            if (last.stream().anyMatch(Outcome.Busy.class::isInstance)) {
                Thread.sleep(1 + random.nextInt(5));
            }
        }
        assertThat(isSettled()).as("settled, at last %s", last).isTrue();
    }

    /** Some of what is open, and repeats of it and of what is not. */
    synchronized List<Message> next(Random random) {
        int wanted = 1 + random.nextInt(12);
        List<Message> batch = new ArrayList<>();
        for (BatchPlan plan : plans) {
            boolean open = !acknowledged.contains(plan.id()) && !setAside.contains(plan.id());
            boolean repeated = !open && !plan.isTerminal() && random.nextInt(5) == 0;
            if (wanted > 0 && (open || repeated)) {
                batch.add(plan.message());
                wanted -= open ? 1 : 0;
                if (random.nextInt(4) == 0) {
                    batch.add(batch.get(random.nextInt(batch.size())));
                }
            }
        }
        return batch;
    }

    /** An acknowledgement must be true the moment it is heard, for the broker now forgets the message. */
    void hear(List<Message> batch, List<? extends Outcome<?>> outcomes) throws SQLException {
        assertThat(outcomes).hasSameSizeAs(batch);
        List<String> effects = world.effects(prefix);
        for (int i = 0; i < batch.size(); i++) {
            String id = batch.get(i).id().orElseThrow();
            Outcome<?> outcome = outcomes.get(i);
            if (outcome.settlement() == Settlement.ACK) {
                assertThat(effects).as("%s was answered by %s", id, outcome).contains(id);
                settled(acknowledged, id);
            } else if (outcome.settlement() == Settlement.DEAD_LETTER) {
                assertThat(id).as("%s", outcome).matches(this::isTerminal);
                settled(setAside, id);
            }
        }
    }

    private boolean isTerminal(String id) {
        return plans.get(Integer.parseInt(id.substring(prefix.length()))).isTerminal();
    }

    private synchronized void settled(Set<String> as, String id) {
        as.add(id);
    }

    /** When all is quiet: each effect once, none of the terminal ones, and each ordering key in order. */
    void check() throws SQLException {
        List<String> effects = world.effects(prefix);
        assertThat(effects).as("effects").doesNotHaveDuplicates();
        assertThat(effects)
                .containsExactlyInAnyOrderElementsOf(plans.stream()
                        .filter(plan -> !plan.isTerminal())
                        .map(BatchPlan::id)
                        .toList());
        Map<String, Integer> last = new HashMap<>();
        for (String effect : effects) {
            BatchPlan plan = plans.get(Integer.parseInt(effect.substring(prefix.length())));
            if (plan.orderingKey() != null) {
                Integer before = last.put(plan.orderingKey(), plan.position());
                assertThat(before == null || before < plan.position())
                        .as("%s came before %s", before, plan)
                        .isTrue();
            }
        }
    }

    /** What the stream holds, for the report of a failure. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        plans.forEach(plan -> text.append(plan).append('\n'));
        return text.toString();
    }
}
